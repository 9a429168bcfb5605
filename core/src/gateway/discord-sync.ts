import type { Logger } from '@cinnabar/sdk';
import type { CommandService, GuildStates } from '../contracts.js';
import type { PluginChange } from '../plugins/lifecycle/changes.js';
import type { PluginManager } from '../plugins/manager.js';
import type { GatewayClient } from './client.js';
import { unionOfIntents } from './intents.js';

interface Parts {
  readonly gateway: GatewayClient;
  readonly plugins: PluginManager;
  readonly commands: CommandService;
  readonly states: GuildStates;
  readonly log: Logger;
}

export interface Upkeep {
  /** Sets the intents that the loaded plugins need. */
  beforeLogin(): void;
  /** From here on Discord is kept in line with the plugins. */
  loggedIn(): void;
  pluginsChanged(change: PluginChange): void;
  busy(): boolean;
  idle(): Promise<void>;
  /** Starts nothing more, and waits for what is under way. */
  close(): Promise<void>;
}

/** Keeps what Discord knows of the bot, its intents and its slash commands, in line with the plugins that run. */
export function createUpkeep({ gateway, plugins, commands, states, log }: Parts): Upkeep {
  const { client } = gateway;
  const underWay = new Set<Promise<void>>();
  let active = false;

  const setIntents = () => {
    const running = plugins.owners().map((owner) => owner.plugin);
    const prefixCommands = commands.all().some((command) => command.surface !== 'slash');
    gateway.setIntents(unionOfIntents(running, prefixCommands));
  };
  const start = (what: string, task: () => Promise<void>) => {
    if (!active) return;
    const run = task().catch((error: unknown) => log.error(`${what} failed`, { error }));
    underWay.add(run);
    void run.finally(() => underWay.delete(run));
  };
  const onJoin = (guild: { readonly id: string }) =>
    start('the slash commands of a new guild', async () => {
      await states.load(guild.id);
      await commands.sync(guild.id, true);
    });

  return {
    beforeLogin: setIntents,
    loggedIn() {
      active = true;
      client.on('guildCreate', onJoin);
      start('bringing the slash commands in line', async () => {
        await states.open();
        await commands.syncAll();
      });
    },
    pluginsChanged({ guildId }) {
      start('bringing Discord in line with the plugins', async () => {
        setIntents();
        await (guildId === null ? commands.syncAll() : commands.sync(guildId));
      });
    },
    busy: () => underWay.size > 0,
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async close() {
      active = false;
      client.off('guildCreate', onJoin);
      await commands.closeSync();
      await Promise.all(underWay);
    },
  };
}
