// Compiled check of the definition of a function that is a URL.

import typia from 'typia';
import type { UrlInvocation } from '../router/calls/url-invocation.ts';

export const validateUrlInvocation = typia.createValidate<UrlInvocation>();
