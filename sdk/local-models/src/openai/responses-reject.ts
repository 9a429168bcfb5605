import { z } from 'zod';
import type { Rejection } from '../wire.js';
import { RESPONSES_BODY, type ResponsesBody } from './responses-body.js';
import { wrongStrictSchema } from './shared.js';

/** Refuses what the Responses API refuses. */
export function rejectResponses(raw: unknown): Rejection | undefined {
  const parsed = RESPONSES_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error), param: 'input' };
  const message = wrongCalls(parsed.data) ?? wrongTools(parsed.data) ?? wrongFormat(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

function wrongCalls({ input }: ResponsesBody): string | undefined {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const item of input) {
    if (item.type === 'function_call') {
      if (called.has(item.call_id)) return `Duplicate function call ${item.call_id}.`;
      called.add(item.call_id);
    } else if (item.type === 'function_call_output') {
      if (!called.has(item.call_id)) return `No tool call found for function call output with call_id ${item.call_id}.`;
      if (answered.has(item.call_id)) return `Duplicate output for function call ${item.call_id}.`;
      answered.add(item.call_id);
    }
  }
  const open = [...called].find((id) => !answered.has(id));
  return open === undefined ? undefined : `No tool output found for function call ${open}.`;
}

function wrongTools({ tools = [] }: ResponsesBody): string | undefined {
  if (new Set(tools.map((tool) => tool.name)).size < tools.length) return 'Tool names must be unique.';
  for (const tool of tools) {
    const wrong = tool.strict === false ? undefined : wrongStrictSchema(tool.parameters);
    if (wrong !== undefined) return `Invalid schema for function '${tool.name}': ${wrong}`;
  }
  return undefined;
}

function wrongFormat({ text }: ResponsesBody): string | undefined {
  if (text === undefined || text.format.strict !== true) return undefined;
  const wrong = wrongStrictSchema(text.format.schema);
  return wrong === undefined ? undefined : `Invalid schema for response_format '${text.format.name}': ${wrong}`;
}
