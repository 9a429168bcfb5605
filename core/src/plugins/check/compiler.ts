import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findPackage } from '../build/evaluate.js';

/** The project's own TypeScript compiler. */
export interface Compiler {
  /**
   * Checks the types of the whole project; writes nothing.
   * @returns what it prints, `src/index.ts(7,3): error TS2322: Type …` a line; `undefined` when it was stopped by the signal
   */
  check(signal?: AbortSignal): Promise<string | undefined>;
}

/** @returns a reason when the project's types cannot be checked */
export function compilerOf(folder: string): Compiler | 'no tsconfig.json' | 'no compiler' {
  if (!existsSync(join(folder, 'tsconfig.json'))) return 'no tsconfig.json';
  const compiler = findPackage('typescript', folder);
  if (compiler === undefined) return 'no compiler';
  const args = [join(compiler, 'bin', 'tsc'), '--noEmit', '--pretty', 'false'];
  return {
    check: (signal) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
        signal?.addEventListener('abort', () => child.kill(), { once: true });
        let output = '';
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => {
            output += text;
          });
        child.once('error', reject);
        child.once('close', () => resolve(signal?.aborted === true ? undefined : output));
      }),
  };
}
