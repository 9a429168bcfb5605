import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import { type Outcome, type ToolProgress, Tools } from '@cinnabar/sdk';
import { buildSync } from 'esbuild';

let built: string | undefined;

/** `child.ts` with its packages in one file: dozens of tests start it, and most of its processor time was spent on finding and reading modules. */
function childScript(): string {
  if (built !== undefined) return built;
  const file = join(tmpdir(), `cinnabar-mcp-child-${process.pid}.mjs`);
  const script = fileURLToPath(new URL('./child.js', import.meta.url));
  buildSync({ entryPoints: [script], outfile: file, bundle: true, platform: 'node', format: 'esm' });
  process.once('exit', () => rmSync(file, { force: true }));
  built = file;
  return file;
}

/** Settings for the server of `child.ts`. */
export const CHILD = {
  command: process.execPath,
  get args() {
    return [childScript()];
  },
  tier: 'everyone',
  risk: 'hints',
} as const;

/** A host that has loaded the tools of its servers. */
export async function openMcpHarness(
  servers: Readonly<Record<string, unknown>>,
  { plugins = [], settings, ...options }: Partial<TestHostOptions> = {},
): Promise<TestHost> {
  const host = await createTestHost({
    ...options,
    plugins: ['mcp', ...plugins],
    settings: { ...settings, mcp: { servers, ...settings?.mcp } },
  });
  await ask(host, '!mcp tools');
  return host;
}

/** The bot's answer to a command of its owner. */
export async function ask(host: TestHost, command: string): Promise<string> {
  host.you.say(host.general, command);
  await host.settled();
  return host.general.messages.findLast(({ author }) => author.id === host.bot.id)?.content ?? '';
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** Calls a tool as a model on behalf of alice. */
export function call(
  host: TestHost,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<Outcome> {
  const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
  return host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test', ...options });
}

/** The text of a finished call: its result, or the reason of the failure. */
export function textOf(outcome: Outcome): string {
  switch (outcome.status) {
    case 'done':
      return outcome.text;
    case 'failed':
      return outcome.error.message;
    case 'deferred':
      return outcome.note;
    default:
      return outcome.reason;
  }
}
