import { z } from 'zod';
import type { Rejection } from '../wire.js';
import { GEMINI_BODY, type GeminiBody } from './body.js';

/** Refuses what the Gemini API refuses. */
export function rejectGemini(raw: unknown): Rejection | undefined {
  const parsed = GEMINI_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error) };
  const message = wrongTurns(parsed.data) ?? wrongOutput(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

/** A turn of calls follows a user's turn, and the next one holds a response for each call. */
function wrongTurns({ contents }: GeminiBody): string | undefined {
  let open = 0;
  for (const [index, { role, parts }] of contents.entries()) {
    const calls = parts.filter(({ functionCall }) => functionCall !== undefined).length;
    const responses = parts.filter(({ functionResponse }) => functionResponse !== undefined).length;
    if (calls > 0 && role !== 'model') return `contents[${index}]: function calls come from the model`;
    if (calls > 0 && contents[index - 1]?.role !== 'user') {
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
    }
    if (responses !== open) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    }
    open = calls;
  }
  return open > 0
    ? 'Please ensure that function response turn comes immediately after a function call turn.'
    : undefined;
}

function wrongOutput({ generationConfig, tools }: GeminiBody): string | undefined {
  if (generationConfig?.responseJsonSchema === undefined) return undefined;
  if (generationConfig.responseMimeType !== 'application/json') {
    return 'response_json_schema only allowed for application/json response_mime_type';
  }
  return tools === undefined
    ? undefined
    : "Function calling with a response mime type: 'application/json' is unsupported";
}
