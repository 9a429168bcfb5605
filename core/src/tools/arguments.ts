import { createHash } from 'node:crypto';
import type { ToolInput } from '@cinnabar/sdk';
import canonicalize from 'canonicalize';
import type { z } from 'zod';

export type Arguments = Readonly<Record<string, unknown>>;

export type ReadArguments =
  | { readonly ok: true; readonly input: Arguments; readonly hash: string }
  /** `detail` names the argument, for people and models. */
  | { readonly ok: false; readonly detail: string };

const NO_ARGUMENTS: Arguments = {};

/**
 * Reads what a model gave: an object, or a string that is one in JSON. The result is frozen and hashed: exactly it runs. A schema may take
 * its time: those of foreign servers are checked in a worker.
 */
export async function readArguments(schema: ToolInput, given: unknown): Promise<ReadArguments> {
  const plain = asPlainObject(given);
  if (plain === undefined) return { ok: false, detail: 'they must be one JSON object' };
  const parsed = await schema.safeParseAsync(plain);
  if (!parsed.success) return { ok: false, detail: describeIssues(parsed.error) };
  // A copy: a default in a schema may be one shared object.
  const input = deepFreeze(structuredClone(parsed.data));
  return { ok: true, input, hash: hashOf(input) };
}

/** SHA-256 of the canonical JSON (RFC 8785), hex: the same for the same arguments in whatever order. */
export function hashOf(input: Arguments): string {
  return createHash('sha256')
    .update(canonicalize(input) ?? '')
    .digest('hex');
}

/** Nothing but JSON gets through, so that no getter, prototype or `toJSON` of a caller's object reaches a tool. */
function asPlainObject(given: unknown): Arguments | undefined {
  if (given === undefined || given === null || given === '') return NO_ARGUMENTS;
  try {
    const value: unknown = JSON.parse(typeof given === 'string' ? given : JSON.stringify(given));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.map(String).join('.') || 'input'}: ${issue.message}`).join('; ');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
