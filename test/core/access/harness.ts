import { createSystemClock } from '@cinnabar/core';
import { type AccessDependencies, createAccess } from '@cinnabar/core/internal/access/access';
import { startLocalDiscord } from '@cinnabar/local-discord';
import type { Identity } from '@cinnabar/sdk';
import { Client, type GatewayIntentsString } from 'discord.js';
import { memoryGuildStates, memoryOwnerState } from '../../support/guild-states.js';
import { recordingLogger } from '../../support/logs.js';

interface TownOptions extends Partial<Pick<AccessDependencies, 'owners' | 'clock'>> {
  readonly intents?: readonly GatewayIntentsString[];
  readonly team?: boolean;
}

/** A guild of `you`, with alice and bob, on the local Discord; and access over a real client that is logged in there. */
export async function openHarness({
  intents = ['Guilds', 'GuildMembers', 'GuildMessages'],
  team = false,
  ...parts
}: TownOptions = {}) {
  const discord = await startLocalDiscord();
  const [you, alice, bob] = ['you', 'alice', 'bob'].map((name) => discord.createUser({ name }));
  if (you === undefined || alice === undefined || bob === undefined) throw new Error('unreachable');
  const application = discord.createApplication({
    name: 'Cinnabar',
    owner: you,
    ...(team ? { team: { name: 'crew', members: [you, alice] } } : {}),
  });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  const general = guild.createChannel({ name: 'general' });
  guild.join(alice);
  guild.join(bob);
  guild.invite(application);
  const client = new Client({ intents: [...intents], rest: { api: discord.api } });
  const ready = new Promise<void>((resolve) => client.once('clientReady', () => resolve()));
  await client.login(application.token);
  await ready;
  const log = recordingLogger();
  const states = memoryGuildStates();
  const ownerState = memoryOwnerState();
  const disabled = new Set<string>();
  const identities = new Map<string, Identity>();
  const access = createAccess({
    client,
    states,
    ownerState,
    pluginIn: (_guildId, plugin) => ({ enabled: !disabled.has(plugin), required: plugin === 'admin' }),
    owners: [],
    identities: { get: async (id) => identities.get(id), standing: async () => undefined },
    clock: createSystemClock(),
    log,
    ...parts,
  });
  return {
    discord,
    guild,
    general,
    you,
    alice,
    bob,
    application,
    client,
    states,
    disabled,
    identities,
    access,
    log,
    actor: (user: { readonly id: string }, channelId = general.id) => ({
      userId: user.id,
      guildId: guild.id,
      channelId,
    }),
    async [Symbol.asyncDispose]() {
      await client.destroy();
      await discord.close();
    },
  };
}
