// Regular expressions of log searches: they take time linear in the text, are bounded, and charged for.

import { RE2JS } from 're2js';
import { regexLengthOffence } from './query-terms.ts';
import type { SearchBudget } from './search-budget.ts';

/** Repetitions make a program of a few bytes large: to compile one of that size takes 20 to 50 ms. */
export const REGEX_INSTRUCTIONS_MAX = 5_000;
/** Of its automaton, for one expression: one whose states outgrow it would build them again for every record. */
const REGEX_STATE_BYTES = 1024 * 1024;
/** Of each text: what its reader takes before the first character, in characters of one instruction. */
const REGEX_TEXT_CHARS = 32;
/** A text for which the automaton needs new states takes some fifty times longer than one that it knows. */
const NEW_STATES_FACTOR = 4;

export type TextMatcher = (text: string, budget: SearchBudget) => boolean;

interface CompiledRegex {
  readonly instructions: number;
  readonly matches: TextMatcher;
}

/** A search that takes time linear in the text, and is charged for it; or what is wrong with the expression. */
export function compileRegex(source: string, ignoresCase: boolean): CompiledRegex | string {
  const offence = regexLengthOffence(source);
  if (offence !== undefined) return offence;
  try {
    return matcherOf(RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0), `/${source}/`);
  } catch (error) {
    return `the regular expression is not valid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function matcherOf(pattern: RE2JS, shown: string): CompiledRegex | string {
  const instructions = pattern.programSize();
  if (instructions > REGEX_INSTRUCTIONS_MAX) {
    const limit = `the limit is ${REGEX_INSTRUCTIONS_MAX}; repeat less`;
    return `the regular expression is a program of ${instructions} instructions, ${limit}`;
  }
  const { dfa } = pattern.re2Input;
  dfa.stateBudget = dfa.memBudget = REGEX_STATE_BYTES;
  const matches: TextMatcher = (text, budget) => {
    budget.charge(shown, 1, REGEX_TEXT_CHARS);
    budget.charge(shown, instructions * NEW_STATES_FACTOR, text.length);
    const { memBudget: before } = dfa;
    const doesMatch = pattern.test(text);
    if (dfa.memBudget === before) budget.giveBack(instructions * (NEW_STATES_FACTOR - 1) * text.length);
    return doesMatch;
  };
  return { instructions, matches };
}
