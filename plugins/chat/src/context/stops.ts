import type { Line } from './reading/script.js';

/**
 * Texts at which the model stops. In prefill mode it writes on in a script, so every participant's name with a colon is one: it must
 * not speak for others.
 */
export function stopSequences(
  lines: readonly Line[],
  self: string,
  mode: 'chat' | 'prefill',
  configured: readonly string[],
): readonly string[] {
  const names =
    mode === 'prefill'
      ? [...lines.map(({ message }) => message.participant).filter((name) => name !== self), self]
      : [];
  return [...new Set([...names.map((name) => `${name}:`), ...configured])];
}
