import { z } from 'zod';
import type { FailStep, ScriptedUsage } from '../steps.js';

export const TOOL_NAME = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
export const CALL_ID = z.string().min(1).max(64);
export const IMAGE_URL = z.string().regex(/^(https?:\/\/\S+|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)$/);

export const FORMAT = {
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  schema: z.looseObject({ type: z.literal('object') }),
  strict: z.boolean().nullish(),
};

/** The requirement of strict mode that a schema violates; `undefined` when there is none. */
export function wrongStrictSchema(schema: unknown, at = 'schema'): string | undefined {
  const node = NODE.safeParse(schema).data;
  if (node === undefined) return undefined;
  if (node.properties !== undefined) {
    const names = Object.keys(node.properties);
    if (node.additionalProperties !== false)
      return `${at}: 'additionalProperties' is required to be supplied and to be false.`;
    const missing = names.find((name) => !(node.required ?? []).includes(name));
    if (missing !== undefined) return `${at}: 'required' must include every key in properties. Missing '${missing}'.`;
  }
  const children = [...Object.entries(node.properties ?? {}), ['items', node.items] as const];
  for (const [name, child] of children) {
    const wrong = wrongStrictSchema(child, `${at}.${name}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const NODE = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
});

interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly written: number;
}

export function tokenCounts(usage: ScriptedUsage | undefined): TokenCounts {
  return {
    input: usage?.inputTokens ?? 10,
    output: usage?.outputTokens ?? 5,
    cached: usage?.cacheReadTokens ?? 0,
    written: usage?.cacheCreationTokens ?? 0,
  };
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  429: 'rate_limit_error',
  500: 'server_error',
  503: 'server_error',
};

/** An error in the format of both endpoints. */
export function errorOf(step: FailStep) {
  return {
    message: step.message ?? `scripted error ${step.status}`,
    type: ERROR_TYPES[step.status] ?? 'invalid_request_error',
    param: step.param ?? null,
    code: step.code ?? null,
  };
}
