import { type RecordedUse, z } from '@cinnabar/sdk';

const schema: z.ZodType<RecordedUse> = z.object({
  call: z.object({
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    messageId: z.string(),
    userId: z.string().exactOptional(),
  }),
  result: z.object({ callId: z.string(), output: z.unknown(), error: z.string().exactOptional() }),
  timestamp: z.string(),
});

/** One call as one line, the line feed included. */
export function encodeLine(use: RecordedUse): string {
  return `${JSON.stringify(use)}\n`;
}

/** The calls in a file. Lines that are none are counted: the last one may be torn, when the machine went down while it was written. */
export function decodeLines(text: string): { readonly uses: readonly RecordedUse[]; readonly damaged: number } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const uses = lines.flatMap((line) => decodeLine(line) ?? []);
  return { uses, damaged: lines.length - uses.length };
}

export function decodeLine(line: string): RecordedUse | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
