import { join } from 'node:path';
import { startLocalDiscord } from '@cinnabar/local-discord';
import type { Actor, Clock } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import type { HostConfig } from '../../config/host-config.js';
import type { Owner } from '../../contracts.js';
import { createHost, type Host } from '../../host.js';
import type { BuiltPlugins, LoaderOptions } from '../loader.js';

/** The real host on a local Discord, for trying plugins. */
export interface TrialHost extends AsyncDisposable {
  readonly host: Host;
  /** Plugins that did not start, with the reasons as sentences. */
  readonly problems: readonly { readonly plugin: string; readonly problem: string }[];
  /** The owner of the bot and of its only guild. */
  readonly owner: Actor;
}

interface TrialHostOptions {
  readonly dataDir: string;
  /** Where the bundles of plugins are kept between starts. */
  readonly buildCacheDir: string;
  readonly pluginFolders: readonly string[];
  /** A folder with a package.json whose dependencies may be plugins. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ids of plugins: no others are started. */
  readonly only?: readonly string[];
  /** Values for plugins' global settings. */
  readonly presets?: HostConfig['presets'];
  /** Where the YAML files are; there are none when it is left out. */
  readonly configDir?: string;
  /** Bundled plugins that were built ahead. */
  readonly builtPlugins?: BuiltPlugins;
  /** See `LoaderOptions.reuse`. */
  readonly reusePlugin?: LoaderOptions['reuse'];
  /** By default a clock that does not advance, so that no timer fires. */
  readonly clock?: Clock;
}

/** Starts the host on a temporary local Discord, with temporary data. */
export async function startTrialHost(options: TrialHostOptions): Promise<TrialHost> {
  const { dataDir, clock = createManualClock() } = options;
  const discord = await startLocalDiscord({ clock });
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const general = guild.createChannel({ name: 'general' });
  const host = createHost({
    clock,
    logFiles: false,
    config: {
      token: application.token,
      discordApi: discord.api,
      root: options.root,
      botName: undefined,
      configDir: options.configDir ?? join(dataDir, 'config'),
      dataDir,
      cacheDir: join(dataDir, 'cache'),
      buildCacheDir: options.buildCacheDir,
      logDir: join(dataDir, 'logs'),
      logLevel: 'error',
      prefixes: ['!'],
      owners: [],
      pluginFolders: options.pluginFolders,
      disabledPlugins: [],
      presets: options.presets ?? {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: options.env ?? {},
    },
    ...(options.only === undefined ? {} : { only: options.only }),
    ...(options.builtPlugins === undefined ? {} : { builtPlugins: options.builtPlugins }),
    ...(options.reusePlugin === undefined ? {} : { reusePlugin: options.reusePlugin }),
  });
  const close = async () => {
    await host.stop();
    await discord.close();
  };
  try {
    const { problems } = await host.start(application.token);
    return {
      host,
      problems,
      owner: { userId: you.id, guildId: guild.id, channelId: general.id },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Records every version of every plugin that has run, without keeping it in memory. */
export interface Versions {
  /** Records the versions that run now. */
  note(owners: readonly Owner[]): void;
  /** Number of versions seen. */
  readonly seen: number;
  /**
   * Number of versions that are still in memory, by plugin.
   * @param expected the number of versions that a plugin should have: garbage is collected until no plugin has more, at most `COLLECTIONS` times
   */
  alive(expected: number): Promise<ReadonlyMap<string, number>>;
}

const COLLECTIONS = 8;

/** @param collectGarbage collects all garbage: `gc` of V8 */
export function createVersions(collectGarbage: () => void): Versions {
  const refs: { readonly plugin: string; readonly ref: WeakRef<object> }[] = [];
  const known = new WeakSet<object>();
  const count = () => {
    const counts = new Map<string, number>();
    for (const { plugin, ref } of refs)
      if (ref.deref() !== undefined) counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
    return counts;
  };

  return {
    note(owners) {
      for (const { id, plugin } of owners) {
        if (known.has(plugin)) continue;
        known.add(plugin);
        refs.push({ plugin: id, ref: new WeakRef(plugin) });
      }
    },
    get seen() {
      return refs.length;
    },
    async alive(expected) {
      for (let round = 1; ; round += 1) {
        // Reading a weak reference keeps its object until the end of the turn.
        await new Promise((resolve) => setImmediate(resolve));
        collectGarbage();
        const counts = count();
        if (round === COLLECTIONS || [...counts.values()].every((one) => one <= expected)) return counts;
      }
    },
  };
}
