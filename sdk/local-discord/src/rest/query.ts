import { invalidForm } from '../errors.js';

/** A whole number from the query string. @throws 50035 outside the range */
export function numberIn(query: URLSearchParams, name: string, min: number, max: number, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value)) {
    throw invalidForm({ path: [name], code: 'NUMBER_TYPE_COERCE', message: `Value "${text}" is not int.` });
  }
  if (value < min) {
    throw invalidForm({
      path: [name],
      code: 'NUMBER_TYPE_MIN',
      message: `int value should be greater than or equal to ${min}.`,
    });
  }
  if (value > max) {
    throw invalidForm({
      path: [name],
      code: 'NUMBER_TYPE_MAX',
      message: `int value should be less than or equal to ${max}.`,
    });
  }
  return value;
}
