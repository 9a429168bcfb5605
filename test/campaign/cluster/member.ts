import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalApplication } from '@cinnabar/local-discord';
import { PROGRAM } from '../../support/cinnabar.js';
import type { TestServer } from '../../support/postgres.js';
import { type CutProxy, openProxy } from './proxy.js';

const PLUGINS = fileURLToPath(new URL('../../../campaign/cluster/plugins', import.meta.url));
const RESOLVE = new URL('./resolve.js', import.meta.url).href;
const DEFECTS = new URL('./defects.js', import.meta.url).href;

/** The host name of the local Discord, which each process reaches through a separate proxy. */
export const DISCORD_NAME = 'discord.test';

export interface MemberOptions {
  readonly name: string;
  /** The loopback address of the proxy. Addresses distinguish the proxies, because the port is Discord's. */
  readonly address: string;
  readonly database: TestServer;
  readonly discordPort: number;
  readonly application: LocalApplication;
  readonly groups: number;
  readonly buildCache: string;
  /** A defect of the program that the campaign has to detect. */
  readonly defect: string | undefined;
}

/** A process started with `cinnabar start --cluster`. The campaign controls all its connections. */
export interface ClusterProcess {
  readonly name: string;
  readonly discord: CutProxy;
  readonly database: CutProxy;
  isDead(): boolean;
  signal(signal: NodeJS.Signals): void;
  readonly gone: Promise<unknown>;
  /** The end of its output. */
  said(): string;
  /** Kills it immediately. */
  dispose(): Promise<void>;
}

const KEPT_CHARACTERS = 20_000;

export async function startMember(parts: MemberOptions): Promise<ClusterProcess> {
  const { name, address, database, discordPort, application, groups, buildCache, defect } = parts;
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-campaign-cluster-'));
  mkdirSync(join(folder, 'config'));
  writeFileSync(join(folder, 'config', 'shared.yaml'), `cluster: { groups: ${groups} }\n`);
  const discord = await openProxy({ host: address, port: discordPort }, { host: '127.0.0.1', port: discordPort });
  const toDatabase = await openProxy({ host: '127.0.0.1' }, { path: database.socket });
  const child: ChildProcess = fork(PROGRAM, ['start', '--cluster'], {
    cwd: folder,
    execArgv: ['--enable-source-maps', '--import', RESOLVE, ...(defect === undefined ? [] : ['--import', DEFECTS])],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env.PATH,
      CAMPAIGN_RESOLVE: `${DISCORD_NAME}=${address}`,
      DISCORD_API: `http://${DISCORD_NAME}:${discordPort}/api`,
      DISCORD_TOKEN: application.token,
      DATABASE_URL: `postgres://cinnabar@127.0.0.1:${toDatabase.port}/postgres?application_name=${name}`,
      ...(defect === undefined ? {} : { CAMPAIGN_DEFECT: defect }),
      CINNABAR_DATA: folder,
      CINNABAR_PLUGINS: PLUGINS,
      CINNABAR_MEMBER: name,
      CINNABAR_MONITORING: 'off',
      BUILD_CACHE_PATH: buildCache,
      LOG_LEVEL: 'info',
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-KEPT_CHARACTERS);
    });
  let dead = false;
  const gone = once(child, 'exit').then(async () => {
    dead = true;
    await discord[Symbol.asyncDispose]();
    await toDatabase[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    name,
    discord,
    database: toDatabase,
    isDead: () => dead,
    signal: (signal) => void child.kill(signal),
    gone,
    said: () => said,
    async dispose() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
