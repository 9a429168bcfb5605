import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A plugin on disk with a command for a greeting; tests can change its version and greeting. */
export interface Greeter extends AsyncDisposable {
  readonly folder: string;
  write(version: string, greeting: string): Promise<void>;
  break(): Promise<void>;
}

export async function createGreeter(): Promise<Greeter> {
  const folder = await mkdtemp(join(tmpdir(), 'cinnabar-greeter-'));
  const save = (source: string) => writeFile(join(folder, 'index.ts'), source);
  const greeter: Greeter = {
    folder,
    write: (version, greeting) =>
      save(`
        import { definePlugin } from '@cinnabar/sdk';
        export default definePlugin({
          manifest: { id: 'greeter', version: '${version}', description: 'Greets' },
          setup({ command }) {
            command({ name: '${greeting}', description: 'Greets', run: (ctx) => ctx.reply('${greeting} from ${version}') });
          },
        });`),
    break: () => save('export default definePlugin({ oh no'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({
      name: 'greeter',
      version: '1.0.0',
      type: 'module',
      keywords: ['cinnabar-plugin'],
      main: 'index.ts',
    }),
  );
  await greeter.write('1.0.0', 'hello');
  return greeter;
}
