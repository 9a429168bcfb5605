import type { ZodType } from 'zod';
import type { $ZodIssue } from 'zod/v4/core';
import { type FormIssue, invalidForm } from '../errors.js';

/** Checks a body against its schema. @throws 50035 with the complaints where Discord puts them */
export function parseForm<T>(schema: ZodType<T>, json: unknown): T {
  const result = schema.safeParse(json ?? {});
  if (result.success) return result.data;
  throw invalidForm(...result.error.issues.map(toFormIssue));
}

function toFormIssue(issue: $ZodIssue): FormIssue {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  return { path, ...complaint(issue) };
}

function complaint(issue: $ZodIssue): { code: string; message: string } {
  switch (issue.code) {
    case 'too_big':
      return issue.origin === 'number'
        ? { code: 'NUMBER_TYPE_MAX', message: `int value should be less than or equal to ${issue.maximum}.` }
        : { code: 'BASE_TYPE_MAX_LENGTH', message: `Must be ${issue.maximum} or fewer in length.` };
    case 'too_small':
      return issue.origin === 'number'
        ? { code: 'NUMBER_TYPE_MIN', message: `int value should be greater than or equal to ${issue.minimum}.` }
        : { code: 'BASE_TYPE_MIN_LENGTH', message: `Must be ${issue.minimum} or more in length.` };
    case 'invalid_type':
      return issue.input === undefined
        ? { code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }
        : { code: 'BASE_TYPE_BAD_TYPE', message: issue.message };
    case 'invalid_format':
      return { code: 'STRING_TYPE_REGEX', message: 'String value did not match validation regex.' };
    case 'invalid_value':
      return { code: 'BASE_TYPE_CHOICES', message: `Value must be one of {${issue.values.map(String).join(', ')}}.` };
    case 'custom':
      return {
        code: typeof issue.params?.code === 'string' ? issue.params.code : 'BASE_TYPE_INVALID',
        message: issue.message,
      };
    default:
      return { code: 'BASE_TYPE_INVALID', message: issue.message };
  }
}
