import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type GuildFilePlan, lineOfDifference, t, UserError } from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import { guildOfFile } from '../guild-file/content.js';
import { onStoppedData } from './stopped-data.js';

interface Surroundings {
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
  readonly cwd: () => string;
}

/** The actor who applies a file, in the guild's audit. */
const ACTOR = { userId: 'command line', channelId: '0' } as const;

/**
 * `cinnabar plan FILE`, `cinnabar apply FILE`, `cinnabar export GUILD`, `cinnabar undo GUILD`: a guild's configuration as one file, while the bot is stopped.
 * @returns the exit code
 * @throws UserError for what cannot be done
 */
export async function runGuildFile(
  act: 'plan' | 'apply' | 'export' | 'undo',
  [operand, ...others]: readonly string[],
  config: HostConfig,
  { stdout, stderr, cwd }: Surroundings,
): Promise<number> {
  const isFile = act === 'plan' || act === 'apply';
  if (operand === undefined || others.length > 0)
    throw new UserError(isFile ? `It is "${act} FILE".` : `It is "${act} GUILD", with the id of the server.`);
  if (!isFile && !/^\d{15,22}$/.test(operand)) throw new UserError('The id of a server has 15 to 22 digits.');
  const text = isFile ? await readText(resolve(cwd(), operand)) : '';
  const guildId = isFile ? guildOfFile(text) : operand;
  const actor = { ...ACTOR, guildId };
  return onStoppedData(
    config,
    { onProblem: (problem) => void stderr.write(`${problem}\n`) },
    async ({ guildFiles, directory }) => {
      if ((await directory(guildId)) === undefined)
        stderr.write('Without DISCORD_TOKEN, roles are named by id, and settings of channels are left out.\n');
      if (act === 'export') {
        stdout.write(await guildFiles.export(guildId));
        return 0;
      }
      const plan = isFile ? await guildFiles.plan(guildId, text, actor) : await guildFiles.planUndo(guildId);
      if (plan === undefined) throw new UserError(t('No file has been applied to this server.'));
      stdout.write(textOfPlan(plan));
      if (act === 'plan' || plan.differences.length === 0) return 0;
      await plan.apply(actor);
      stdout.write('Applied.\n');
      return 0;
    },
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new UserError(`The file ${path} cannot be read.`, { cause });
  }
}

function textOfPlan({ differences, notes }: GuildFilePlan): string {
  if (differences.length === 0) return 'Nothing to change: the server is as the file says.\n';
  return [...differences.map(lineOfDifference), ...notes, ''].join('\n');
}
