// Compiled check of what a worker says of a function that is a URL.

import typia from 'typia';
import type { UrlInvocation } from '../router/url-invocation.ts';

export const validateUrlInvocation = typia.createValidate<UrlInvocation>();
