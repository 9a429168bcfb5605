import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError, z } from '@cinnabar/sdk';
import { type CheckReport, checkPlugin, RELOADS } from '../plugins/check/check.js';
import { lineOf } from '../plugins/check/findings.js';
import { KEYWORD } from '../plugins/discovery.js';
import type { Terminal } from './command-line.js';
import type { Arguments } from './discord.js';

type Options = Pick<Arguments, 'quick' | 'json' | 'beside'>;

/**
 * `cinnabar check [FOLDER]`
 * @returns the exit code: 1 when something has to be fixed
 */
export async function runCheck(operands: readonly string[], options: Options, terminal: Terminal): Promise<number> {
  const report = await checkFolder(operands, options, terminal);
  if (options.json) terminal.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  else terminal.stdout.write(`${linesOf(report).join('\n')}\n`);
  return report.errors === 0 ? 0 : 1;
}

/** @throws UserError for more than one folder */
export async function checkFolder(
  [folder = '.', ...others]: readonly string[],
  { quick, beside }: Pick<Options, 'quick' | 'beside'>,
  { stderr, env, cwd }: Terminal,
): Promise<CheckReport> {
  if (others.length > 0) throw new UserError('One folder at a time.');
  return checkPlugin(resolve(cwd(), folder), {
    reloads: quick ? 0 : RELOADS,
    beside: beside.map((one) => resolve(cwd(), one)),
    env,
    onStep: (step) => void stderr.write(`${step}\n`),
  });
}

/** A line for each finding, and a summary. */
export function linesOf({ id, version, findings, errors, warnings }: CheckReport): readonly string[] {
  const name = id === undefined ? 'This' : `${id} ${version ?? ''}`.trim();
  const counts = `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  return [
    ...findings.map(lineOf),
    errors === 0 ? `${name} passes: ${counts}.` : `${name} has to be mended first: ${counts}.`,
  ];
}

const packageSchema = z.object({
  keywords: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.unknown()).default({}),
});

/**
 * The kind of project that a folder's package.json describes: a plugin's, a bot's, or `undefined` for neither.
 * @throws UserError for one that is not JSON
 */
export function projectKind(folder: string): 'plugin' | 'bot' | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const { keywords = [], dependencies = {} } = packageSchema.safeParse(readJson(file)).data ?? {};
  if (keywords.includes(KEYWORD)) return 'plugin';
  return dependencies.cinnabar === undefined ? undefined : 'bot';
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new UserError(`${file} cannot be read as JSON.`, { cause });
  }
}
