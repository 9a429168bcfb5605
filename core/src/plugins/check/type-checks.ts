import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { better, type Sought, wrong } from './findings.js';

/** `src/index.ts(7,3): error TS2322: Type …` */
const ERROR = /^(.+?)\((\d+),\d+\): error TS\d+: (.*)$/;
const OTHER = /^error TS\d+: (.*)$/;
const MOST = 20;

/** Runs the project's own TypeScript over it; writes nothing. */
export async function checkTypes(folder: string, entry: string): Promise<readonly Sought[]> {
  if (!/\.[cm]?ts$/.test(entry)) return [];
  const config = join(folder, 'tsconfig.json');
  if (!existsSync(config))
    return [better('types', 'its types were not looked at: there is no tsconfig.json, make one with "cinnabar new"')];
  const compiler = compilerOf(folder);
  if (compiler === undefined)
    return [better('types', `its types were not looked at: run "npm install --save-dev typescript" in ${folder}`)];
  const output = await run(compiler, folder, ['--noEmit', '--pretty', 'false', '-p', config]);
  const errors = output.split('\n').flatMap((line) => {
    const [, file, number, text] = ERROR.exec(line) ?? [];
    if (file !== undefined && text !== undefined) return [wrong('types', text, { file, line: Number(number) })];
    const [, other] = OTHER.exec(line) ?? [];
    return other === undefined ? [] : [wrong('types', other, { file: 'tsconfig.json' })];
  });
  return errors.slice(0, MOST);
}

function compilerOf(folder: string): string | undefined {
  try {
    // Its package exports no program: that lies beside its package.json.
    return join(createRequire(join(folder, 'package.json')).resolve('typescript/package.json'), '..', 'bin', 'tsc');
  } catch {
    return undefined;
  }
}

function run(script: string, cwd: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}
