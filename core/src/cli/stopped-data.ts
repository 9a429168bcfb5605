import { join } from 'node:path';
import { type Clock, type Logger, operatorSentenceOf, type Plugin } from '@cinnabar/sdk';
import { recoverData } from '../backup/backups.js';
import { createSystemClock } from '../clock/clock.js';
import { createConfiguration } from '../config/configuration.js';
import type { HostConfig } from '../config/host-config.js';
import type { GuildStates, OwnerState, StorageService } from '../contracts.js';
import { lockData } from '../data-lock/lock.js';
import {
  createGuildStates,
  createOwnerState,
  guildStateDocuments,
  isEnabledIn,
  ownerStateDocuments,
} from '../gateway/guild-states.js';
import { fetchDirectory, type GuildDirectory } from '../guild-file/directory.js';
import { createGuildFiles, type GuildFileService, guildFileSchema } from '../guild-file/guild-files.js';
import { createRedactor, secretsIn } from '../observability/log-entry.js';
import { type AuditLogService, auditSchema, createAuditLog, createLogs } from '../observability/logs.js';
import { discoveryOf } from '../plugins/discovery.js';
import { createCeilings } from '../storage/documents/settings.js';
import { createDryRunDriver } from '../storage/drivers/memory.js';
import { openDriver } from '../storage/drivers/open-driver.js';
import { createStorage } from '../storage/storage.js';
import { loadAll } from './schema.js';

/** The data of a stopped bot: its documents, and the declarations of its plugins, which are not started. */
export interface StoppedData {
  readonly plugins: readonly Plugin[];
  readonly storage: StorageService;
  readonly states: GuildStates;
  readonly ownerState: OwnerState;
  readonly guildFiles: GuildFileService;
  readonly audit: AuditLogService;
  readonly log: Logger;
  readonly clock: Clock;
  /** The names of a guild's roles and channels, from Discord; `undefined` without a token. */
  directory(guildId: string): Promise<GuildDirectory | undefined>;
}

/**
 * Runs a task on the data of the stopped bot, while this process holds their lock.
 * @param options.dryRun nothing is saved: writes are kept in memory, where the task reads them
 * @param options.onProblem called with a plugin that cannot be loaded, as a sentence: its stored data are left unchanged
 * @throws CinnabarError CINNABAR_DATA_IN_USE while the bot runs
 */
export async function onStoppedData<T>(
  config: HostConfig,
  { onProblem, dryRun = false }: { readonly onProblem: (sentence: string) => void; readonly dryRun?: boolean },
  task: (data: StoppedData) => Promise<T>,
): Promise<T> {
  const { root, dataDir, buildCacheDir, token, discordApi } = config;
  const clock = createSystemClock();
  const lock = await lockData(dataDir, clock);
  const logs = createLogs({
    dir: config.logDir,
    level: config.logLevel,
    clock,
    redactor: createRedactor(secretsIn(config)),
  });
  const log = logs.logger('command line');
  const stored = openDriver(config, log, dryRun ? 'look' : 'alone');
  const driver = dryRun ? createDryRunDriver(stored) : stored;
  try {
    if (!dryRun) await recoverData(dataDir);
    await stored.open?.();
    const configuration = createConfiguration({
      dir: config.configDir,
      root,
      botName: config.botName,
      clock,
      log,
      onProblem,
    });
    const storage = createStorage({
      driver,
      log,
      presets: config.presets,
      presetPlace: config.presetPlace,
      ceilings: createCeilings(configuration, log),
    });
    const discover = discoveryOf(config);
    const loaded = await loadAll(discover, join(buildCacheDir, 'plugins'));
    for (const problem of loaded.problems) onProblem(problem);
    const plugins = loaded.plugins.filter((plugin) => {
      try {
        storage.open(plugin);
        return true;
      } catch (error) {
        onProblem(operatorSentenceOf(error) ?? String(error));
        return false;
      }
    });
    const states = createGuildStates(storage.collection('guilds', guildStateDocuments));
    const ownerState = createOwnerState(storage.collection('owner', ownerStateDocuments));
    await ownerState.open();
    const audit = createAuditLog(
      storage.collection('audit', { scope: 'guild', version: 1, schema: auditSchema }),
      { audit: dryRun ? () => undefined : logs.audit, redactor: logs.redactor },
      clock,
      log,
    );
    const directory = async (guildId: string) =>
      token === undefined ? undefined : fetchDirectory({ token, discordApi }, guildId);
    const guildFiles = createGuildFiles({
      documents: storage.collection('guild-files', { scope: 'guild', version: 1, schema: guildFileSchema }),
      states,
      opened: storage.opened,
      manifests: () => plugins.map(({ manifest }) => manifest),
      onByDefault: (manifest) => isEnabledIn(states, ownerState, null, manifest),
      directory,
      // Known only while the plugins run.
      refusalOf: async () => undefined,
      configuration,
      audit,
      switched: () => undefined,
      clock,
      log,
    });
    await guildFiles.recover();
    const result = await task({
      plugins,
      storage,
      states,
      ownerState,
      guildFiles,
      audit,
      log,
      clock,
      directory,
    });
    await storage.flush();
    return result;
  } finally {
    await driver.close();
    await logs.close();
    lock.release();
  }
}
