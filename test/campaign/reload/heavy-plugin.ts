import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The defect in a version of the heavy plugin. */
export type Defect = 'none' | 'syntax' | 'setup';

const SIZE_BYTES = 100 * 1024;

/** Writes a plugin of 100 KB that differs in each version, like a plugin that its author edits. */
export async function saveHeavyPlugin(folder: string, version: number, defect: Defect): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.ts'), source(version, defect));
}

function source(version: number, defect: Defect): string {
  return `import { Clock, definePlugin } from '@cinnabar/sdk';
${ballast(version)}
export default definePlugin({
  manifest: { id: 'heavy', version: '1.0.${version}', description: 'Is large' },
  inject: { clock: Clock },
  setup({ command, on, every, defer, signal, services }) {
    const held = lines.map((line) => line.toUpperCase());
    command({ name: 'heavy', description: 'Says a line', run: (context) => context.reply(held[services.clock.now() % held.length] ?? '') });
    on('messageCreate', (message) => void held.includes(message.content));
    every(60_000, () => held.length);
    signal.addEventListener('abort', () => held.reverse());
    defer(() => held.length);
    ${defect === 'setup' ? "throw new Error('on purpose');" : ''}
  },
});
${defect === 'syntax' ? 'export const broken = ;' : ''}
`;
}

function ballast(version: number): string {
  const line = (index: number) => `  'version ${version}, line ${index}: the quick brown fox jumps over the lazy dog',`;
  const lines: string[] = [];
  for (let size = 0; size < SIZE_BYTES; size += line(lines.length).length + 1) lines.push(line(lines.length));
  return `const lines = [\n${lines.join('\n')}\n];`;
}
