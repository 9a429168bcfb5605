import { compilerOf } from './compiler.js';
import { better, type Sought, wrong } from './findings.js';

/** `src/index.ts(7,3): error TS2322: Type …` */
const ERROR = /^(.+?)\((\d+),\d+\): error TS\d+: (.*)$/;
const OTHER = /^error TS\d+: (.*)$/;
const MOST = 20;

/** Runs the project's own TypeScript over it; writes nothing. */
export async function checkTypes(folder: string, entry: string): Promise<readonly Sought[]> {
  if (!/\.[cm]?ts$/.test(entry)) return [];
  const compiler = compilerOf(folder);
  if (compiler === 'no tsconfig.json')
    return [better('types', 'its types were not looked at: there is no tsconfig.json, make one with "cinnabar new"')];
  if (compiler === 'no compiler')
    return [better('types', `its types were not looked at: run "npm install --save-dev typescript" in ${folder}`)];
  const output = (await compiler.check()) ?? '';
  const errors = output.split('\n').flatMap((line) => {
    const [, file, number, text] = ERROR.exec(line) ?? [];
    if (file !== undefined && text !== undefined) return [wrong('types', text, { file, line: Number(number) })];
    const [, other] = OTHER.exec(line) ?? [];
    return other === undefined ? [] : [wrong('types', other, { file: 'tsconfig.json' })];
  });
  return errors.slice(0, MOST);
}
