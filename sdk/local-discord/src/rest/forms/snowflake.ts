import { z } from 'zod';

/** An id as it stands in bodies: decimal digits, now and then as a number. */
export const snowflake = z.union([z.string(), z.number().transform(String)]).refine((id) => /^\d{1,20}$/.test(id), {
  params: { code: 'NUMBER_TYPE_COERCE' },
  error: (issue) => `Value "${String(issue.input)}" is not snowflake.`,
});
