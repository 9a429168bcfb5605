import { z } from '@cinnabar/sdk';

const text = z.union([z.string(), z.number()]).transform(String);
/** What other versions called the same thing. */
const lineSchema = z.object({
  call: z.object({
    id: text,
    name: z.string().min(1),
    input: z.unknown(),
    messageId: text.optional(),
    message_id: text.optional(),
  }),
  result: z.object({ output: z.unknown(), content: z.unknown(), error: z.unknown() }).partial().nullish(),
  timestamp: z.union([z.string(), z.number()]),
});

/**
 * One line of a tool history, in the form in which it is kept here:
 * `{"call": {"id", "name", "input", "messageId"}, "result": {"callId", "output", "error"?}, "timestamp"}`.
 * @returns `undefined` when it is none
 */
export function convertLine(line: string): { readonly id: string; readonly line: string } | undefined {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  const { call, result, timestamp } = parsed.data;
  const messageId = call.messageId ?? call.message_id;
  const time = new Date(timestamp);
  if (messageId === undefined || Number.isNaN(time.getTime())) return undefined;
  const { error } = result ?? {};
  const use = {
    call: { id: call.id, name: call.name, input: asRecord(call.input), messageId },
    result: {
      callId: call.id,
      output: result?.output ?? result?.content ?? null,
      ...(error === undefined || error === null
        ? {}
        : { error: typeof error === 'string' ? error : JSON.stringify(error) }),
    },
    timestamp: time.toISOString(),
  };
  return { id: call.id, line: JSON.stringify(use) };
}

function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input };
  return input === undefined || input === null ? {} : { value: input };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
