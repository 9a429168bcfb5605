/** What a tool call, or the host, made of content with parts: its text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts: readonly unknown[] = content;
  return parts
    .flatMap((part) => (typeof part === 'object' && part !== null && 'text' in part ? [String(part.text)] : []))
    .join('\n');
}

/** About as many tokens as a text has. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
