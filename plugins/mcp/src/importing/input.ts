import { CinnabarError, sentenceOf, type ToolInput, type WorkerModule, z } from '@cinnabar/sdk';
import type { JsonSchema } from './schema.js';

/** What is wrong with a value by a server's schema; `undefined` when nothing is, or when the schema is none. */
export type CheckValue = (schema: JsonSchema, value: unknown) => Promise<string | undefined>;

const CHECK_MS = 1_000;

/** Checks in a worker, each server's in turn with the others'. @throws CinnabarError CINNABAR_WORKER_TIMEOUT and the like */
export function checkIn(schemas: WorkerModule<typeof import('./schema.js')>, server: string): CheckValue {
  return async (schema, value) => {
    // Anything that is an object fits, and most tools without arguments say no more than that.
    if (Object.keys(schema).every((key) => key === 'type' || key === '$schema') && schema.type === 'object')
      return undefined;
    return schemas.run('problemWith', { schema, value }, { timeoutMs: CHECK_MS, group: `server ${server}` });
  };
}

/** A tool's input as the host wants it: any object, refused unless it fits the server's schema. */
export function inputFor(schema: JsonSchema, check: CheckValue): ToolInput {
  return z.looseObject({}).superRefine(async (value, context) => {
    const problem = await check(schema, value).catch((error: unknown) => {
      if (!(error instanceof CinnabarError)) throw error;
      return `they could not be checked against the server's schema. ${sentenceOf(error)}`;
    });
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}
