import type { MalformedToolUseContent, ModelTool, ToolUseContent } from '@cinnabar/sdk';
import { z } from 'zod';

const ARGUMENTS = z.record(z.string(), z.unknown());

/** A tool call with the arguments as the model wrote them. Arguments that are not a JSON object give malformed content, not an exception. */
export function readToolCall(id: string, name: string, raw: string): ToolUseContent | MalformedToolUseContent {
  const malformed = (reason: string) => ({ type: 'malformed_tool_use' as const, id, name, raw, reason });
  // Some servers send an empty text for a tool without arguments.
  const parsed = raw.trim() === '' ? {} : parse(raw);
  if (parsed instanceof SyntaxError) return malformed(`the arguments are not JSON: ${parsed.message}`);
  return checkToolCall(id, name, parsed, raw);
}

/** A tool call with arguments that the provider has parsed. */
export function checkToolCall(
  id: string,
  name: string,
  input: unknown,
  raw = JSON.stringify(input) ?? '',
): ToolUseContent | MalformedToolUseContent {
  const checked = ARGUMENTS.safeParse(input);
  return checked.success && !Array.isArray(input)
    ? { type: 'tool_use', id, name, input: checked.data }
    : { type: 'malformed_tool_use', id, name, raw, reason: 'the arguments are not a JSON object' };
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch (error) {
    return error instanceof SyntaxError ? error : new SyntaxError(String(error));
  }
}

/** The schema without `$schema`, which providers determine themselves. */
export function withoutDialect({ $schema: _dialect, ...schema }: ModelTool['inputSchema']): Record<string, unknown> {
  return schema;
}

/** The JSON Schema of a requested structured output. */
export function outputSchema(schema: z.ZodObject): Record<string, unknown> {
  return withoutDialect(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }));
}

const NODE = z.looseObject({
  type: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
  allOf: z.array(z.unknown()).default([]),
  $defs: z.record(z.string(), z.unknown()).default({}),
});

/** Whether every object in the schema lists all its keys and requires them: the condition under which providers guarantee the format. */
export function isClosed(schema: unknown): boolean {
  const node = NODE.safeParse(schema).data;
  if (node === undefined) return schema === undefined;
  if ('default' in node) return false;
  if (node.type === 'object') {
    const keys = Object.keys(node.properties ?? {});
    if (node.additionalProperties !== false || keys.some((key) => !node.required.includes(key))) return false;
  }
  const children = [node.items, ...node.anyOf, ...node.oneOf, ...node.allOf];
  return [...children, ...Object.values(node.properties ?? {}), ...Object.values(node.$defs)].every(isClosed);
}
