import type { MalformedToolUseContent, ToolUseContent } from '@cinnabar/sdk';
import { z } from 'zod';

const ARGUMENTS = z.record(z.string(), z.unknown());

/** A tool call from the arguments as the model wrote them. What is not a JSON object is an outcome, not an exception. */
export function readToolCall(id: string, name: string, raw: string): ToolUseContent | MalformedToolUseContent {
  const malformed = (reason: string) => ({ type: 'malformed_tool_use' as const, id, name, raw, reason });
  // Servers send nothing at all for a tool without arguments.
  const parsed = raw.trim() === '' ? {} : parse(raw);
  if (parsed instanceof SyntaxError) return malformed(`the arguments are not JSON: ${parsed.message}`);
  return checkToolCall(id, name, parsed, raw);
}

/** A tool call from arguments that the provider has parsed. */
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
