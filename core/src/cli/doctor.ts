import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DoctorFinding, formatMessagesWith, operatorSentenceOf, z } from '@cinnabar/sdk';
import { createSystemClock } from '../clock/clock.js';
import { createRequester } from '../cluster/requester.js';
import { readStatus } from '../cluster/status.js';
import { createConfiguration } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig } from '../config/load.js';
import { allChecks, examine, type LoadedPlugin, type ScopedFinding } from '../doctor/all-checks.js';
import { examineProcesses, findingsOfAll } from '../doctor/all-processes.js';
import { unionOfIntents } from '../gateway/discord-sync.js';
import {
  createGuildStates,
  createOwnerState,
  guildStateDocuments,
  isEnabledIn,
  ownerStateDocuments,
} from '../gateway/guild-states.js';
import { formatIcuMessage } from '../languages/languages.js';
import { createRedactor, secretsIn } from '../observability/log-entry.js';
import { NO_LOG } from '../observability/no-log.js';
import { discoveryOf } from '../plugins/discovery.js';
import { createLoader } from '../plugins/loader.js';
import type { Driver } from '../storage/driver.js';
import { createDryRunDriver, createMemoryDriver } from '../storage/drivers/memory.js';
import { openDriver } from '../storage/drivers/open-driver.js';
import { createConnections } from '../storage/drivers/postgres/connection.js';
import { schemaState } from '../storage/drivers/postgres/migrations.js';
import { SECRETS_FILE } from '../storage/paths.js';
import { createStorage } from '../storage/storage.js';
import { HOST_VERSION } from '../version.js';
import type { Terminal } from './command-line.js';
import { harmless } from './harmless.js';

interface DoctorArguments {
  readonly bot: string | undefined;
  /** Print one JSON object in place of lines. */
  readonly json: boolean;
}

/**
 * `cinnabar doctor`: checks the requirements of the bot, also while it runs, and requests the findings of the running processes of a cluster. Changes nothing,
 * and starts no plugin.
 * @returns the exit code: 0 when no check has found a fault
 */
export async function runDoctor({ bot, json }: DoctorArguments, terminal: Terminal): Promise<number> {
  // The host does this when it is built, but no host is built here.
  formatMessagesWith(formatIcuMessage);
  const findings = await findingsOf(bot, terminal);
  const isWell = findings.every(({ ok }) => ok);
  const text = json ? JSON.stringify({ ok: isWell, findings }, undefined, 2) : findings.flatMap(linesOf).join('\n');
  terminal.stdout.write(`${text}\n`);
  return isWell ? 0 : 1;
}

/** A line for each finding. Those of a process follow a line with its name. */
function linesOf(
  { ok, about, process, text, remedy }: DoctorFinding,
  index: number,
  all: readonly DoctorFinding[],
): readonly string[] {
  const isFirst = process !== undefined && process !== all[index - 1]?.process;
  return [
    ...(isFirst ? [`Process ${harmless(process)}:`] : []),
    `${ok ? '✓' : '✗'} ${about}: ${text}`,
    ...(remedy === undefined ? [] : [`    → ${remedy}`]),
  ];
}

async function findingsOf(bot: string | undefined, { cwd, env }: Terminal): Promise<readonly DoctorFinding[]> {
  try {
    const config = loadConfig(cwd(), env, bot);
    const [findings, others] = await Promise.all([examineInstallation(config), examineCluster(config)]);
    return findingsOfAll({ findings }, others);
  } catch (error) {
    const text = operatorSentenceOf(error);
    if (text === undefined) throw error;
    return [{ about: 'configuration', ok: false, text, remedy: 'Mend it as it says: the bot does not start before.' }];
  }
}

/** The findings of the running processes of a cluster; empty without a cluster, and while the database is unusable, which another check reports. */
async function examineCluster({ storage }: HostConfig): Promise<Awaited<ReturnType<typeof examineProcesses>>> {
  if (storage === undefined) return [];
  const { schema } = storage;
  const { query, close } = createConnections({ ...storage, poolSize: 1 });
  try {
    if ((await schemaState(query, schema)).version === 0) return [];
    const { ask } = createRequester({ query, schema, clock: createSystemClock(), log: NO_LOG });
    return await examineProcesses(ask, await readStatus(query, schema));
  } catch {
    return [];
  } finally {
    await close();
  }
}

async function examineInstallation(config: HostConfig): Promise<readonly ScopedFinding[]> {
  const { root, dataDir, configDir, botName, presets, presetPlace } = config;
  const clock = createSystemClock();
  // A fault is a finding, and is printed as one.
  const log = NO_LOG;
  const stored = await storedSecrets(dataDir);
  const environment = { ...stored, ...config.env };
  const driver = await driverFor(config);
  try {
    const storage = createStorage({ driver: createDryRunDriver(driver), log, presets, presetPlace });
    const { plugins, problems } = await loadPlugins(config);
    const states = createGuildStates(storage.collection('guilds', guildStateDocuments));
    const ownerState = createOwnerState(storage.collection('owner', ownerStateDocuments));
    await ownerState.open();
    const checks = allChecks({
      config,
      clock,
      // Nearly every plugin has prefix commands.
      intents: () =>
        unionOfIntents(
          plugins.map(({ plugin }) => plugin),
          true,
          config.intents,
        ),
      plugins,
      isOnIn: async (guildId, plugin) => {
        await states.load(guildId);
        return isEnabledIn(states, ownerState, guildId, plugin.manifest);
      },
      storage,
      environment,
      configuration: createConfiguration({ dir: configDir, root, botName, clock, log }),
      log,
    });
    const redactor = createRedactor([...secretsIn(config), ...Object.values(stored)]);
    return [...problems, ...(await examine(checks, { clock, redact: redactor.text }))];
  } finally {
    await driver.close();
  }
}

/** A database that cannot be used is a separate finding: the other checks then use the defaults. */
async function driverFor(config: HostConfig): Promise<Driver> {
  const driver = openDriver(config, NO_LOG, 'look');
  try {
    await driver.open?.();
    return driver;
  } catch {
    await driver.close();
    return createMemoryDriver();
  }
}

/** The secrets that the owner has entered with `!secrets`; empty when they cannot be read, which the running bot has to repair. */
async function storedSecrets(dataDir: string): Promise<Readonly<Record<string, string>>> {
  try {
    const text = await readFile(join(dataDir, SECRETS_FILE), 'utf8');
    return z.object({ values: z.record(z.string(), z.string()) }).parse(JSON.parse(text)).values;
  } catch {
    return {};
  }
}

async function loadPlugins(
  config: HostConfig,
): Promise<{ readonly plugins: readonly LoadedPlugin[]; readonly problems: readonly ScopedFinding[] }> {
  const { buildCacheDir, disabledPlugins } = config;
  const discover = discoveryOf(config);
  const loader = createLoader({ cacheDir: join(buildCacheDir, 'plugins'), hostVersion: HOST_VERSION });
  const found = await discover();
  const plugins: LoadedPlugin[] = [];
  const problems: ScopedFinding[] = found.problems.map(problemOf);
  for (const one of found.plugins.filter(({ id }) => !disabledPlugins.includes(id))) {
    try {
      plugins.push({ plugin: await loader.load(one), isBundled: one.source === 'bundled' });
    } catch (error) {
      problems.push(problemOf(error));
    }
  }
  return { plugins, problems };
}

function problemOf(error: unknown): ScopedFinding {
  const text = operatorSentenceOf(error) ?? String(error);
  return {
    about: 'plugins',
    scope: 'process',
    ok: false,
    text,
    remedy: 'Mend or remove the plugin, or name it in host.plugins.disabled.',
  };
}
