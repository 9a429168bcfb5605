import { type CheckResult, type Clock, type Manifest, permissionName, t } from '@cinnabar/sdk';
import {
  ApplicationFlags,
  ChannelType,
  type GatewayIntentsString,
  OverwriteType,
  PermissionFlagsBits,
  PermissionsBitField,
  type PermissionsString,
} from 'discord.js';
import { z } from 'zod';
import type { HostConfig } from '../config/host-config.js';
import type { Check } from './all-checks.js';

/** The facts about a plugin that matter to Discord. */
interface CheckedPlugin {
  readonly manifest: Manifest;
  isOnIn(guildId: string): Promise<boolean> | boolean;
}

interface CheckedDiscord {
  readonly config: Pick<HostConfig, 'token' | 'discordApi'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The intents that the bot requests. */
  readonly intents: () => readonly GatewayIntentsString[];
  readonly plugins: () => readonly CheckedPlugin[];
}

/** Maximum number of guilds whose channels are checked: three requests each. */
const MOST_GUILDS = 25;
const MOST_CHANNELS_NAMED = 5;
/** Discord refuses nothing because of a wrong clock, but links, cooldowns and reminders are late. */
const SKEW_MS = 5_000;

/** Checks the token, the clock, the privileged intents, and the permissions in each channel, with separate requests. */
export function discordChecks({ config, clock, intents, plugins }: CheckedDiscord): readonly Check[] {
  const { token, discordApi = 'https://discord.com/api' } = config;
  if (token === undefined) {
    const missing = {
      ok: false,
      text: t('There is no token'),
      remedy: t('Put DISCORD_TOKEN into the environment or the file .env (Developer Portal → Bot → Reset Token).'),
    };
    return [{ about: t('Discord'), scope: 'process', run: () => [missing] }];
  }
  const ask = (path: string, signal: AbortSignal) =>
    fetch(`${discordApi.replace(/\/+$/, '')}/v10${path}`, {
      headers: { authorization: `Bot ${token}`, 'user-agent': 'DiscordBot (https://github.com/cinnabar, 0)' },
      redirect: 'error',
      signal,
    });
  const read = async <T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> => {
    const answer = await ask(path, signal);
    if (!answer.ok) throw new Error(`Discord answers ${answer.status}`);
    return schema.parse(await answer.json());
  };

  return [
    {
      about: t('Discord'),
      // Each process has its own token and clock.
      scope: 'process',
      async run(signal) {
        const answer = await ask('/users/@me', signal);
        const skew = skewOf(answer.headers.get('date'), clock.now());
        if (answer.status === 401)
          return [
            {
              ok: false,
              text: t('Discord does not accept the token'),
              remedy: t('Make a new one (Developer Portal → Bot → Reset Token) and put it into DISCORD_TOKEN.'),
            },
            ...skew,
          ];
        if (!answer.ok) throw new Error(`Discord answers ${answer.status}`);
        const { username } = nameSchema.parse(await answer.json());
        return [{ ok: true, text: t('The token is that of {name}', { name: username }) }, ...skew];
      },
    },
    {
      about: t('intents'),
      scope: 'bot',
      async run(signal) {
        const { flags } = await read('/applications/@me', applicationSchema, signal);
        const asked = intents();
        const guilds = await read('/users/@me/guilds', z.array(z.object({ id: z.string() })), signal);
        const ids = guilds.slice(0, MOST_GUILDS).map(({ id }) => id);
        return [...checkIntents(flags, asked), ...(await checkUnrequestedIntents(ids, plugins(), asked))];
      },
    },
    {
      about: t('permissions'),
      scope: 'bot',
      async run(signal) {
        const { id } = await read('/users/@me', nameSchema, signal);
        const guilds = await read('/users/@me/guilds', z.array(z.object({ id: z.string() })), signal);
        const found: CheckResult[] = [];
        for (const guild of guilds.slice(0, MOST_GUILDS)) {
          const [whole, channels, member] = await Promise.all([
            read(`/guilds/${guild.id}`, guildSchema, signal),
            read(`/guilds/${guild.id}/channels`, z.array(channelSchema), signal),
            read(`/guilds/${guild.id}/members/${id}`, memberSchema, signal),
          ]);
          const wanted = await wantedIn(guild.id, plugins());
          found.push(...checkGuild(whole, channels, { id, roles: member.roles }, wanted));
        }
        if (guilds.length > MOST_GUILDS)
          found.push({
            ok: true,
            text: t('{count} more servers were not looked at', { count: guilds.length - MOST_GUILDS }),
          });
        return found;
      },
    },
  ];
}

const nameSchema = z.object({ id: z.string(), username: z.string() });
const applicationSchema = z.object({ flags: z.number().default(0) });
const guildSchema = z.object({
  id: z.string(),
  name: z.string(),
  owner_id: z.string(),
  roles: z.array(z.object({ id: z.string(), permissions: z.string() })),
});
const channelSchema = z.object({
  id: z.string(),
  name: z.string(),
  type: z.number(),
  permission_overwrites: z
    .array(z.object({ id: z.string(), type: z.number(), allow: z.string(), deny: z.string() }))
    .default([]),
});
const memberSchema = z.object({ roles: z.array(z.string()) });

function skewOf(date: string | null, now: number): readonly CheckResult[] {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return [];
  const skewMs = Math.abs(now - theirs);
  const seconds = Math.round(skewMs / 1_000);
  return [
    {
      // The header has whole seconds.
      ok: skewMs <= SKEW_MS,
      text:
        skewMs <= SKEW_MS
          ? t('The clock of this machine agrees with Discord')
          : t('The clock of this machine is {seconds, number} s away from that of Discord', { seconds }),
      remedy: t('Let the machine set its clock over the network (NTP).'),
    },
  ];
}

type PrivilegedIntent = 'GuildMembers' | 'GuildPresences' | 'MessageContent';

/** The switches in the Developer Portal, and the flags by which Discord shows that they are on: for bots in few servers, and for verified ones. */
const PRIVILEGED: Readonly<Record<PrivilegedIntent, readonly [title: string, ...flags: readonly ApplicationFlags[]]>> =
  {
    GuildMembers: [
      'Server Members Intent',
      ApplicationFlags.GatewayGuildMembers,
      ApplicationFlags.GatewayGuildMembersLimited,
    ],
    GuildPresences: ['Presence Intent', ApplicationFlags.GatewayPresence, ApplicationFlags.GatewayPresenceLimited],
    MessageContent: [
      'Message Content Intent',
      ApplicationFlags.GatewayMessageContent,
      ApplicationFlags.GatewayMessageContentLimited,
    ],
  };

function checkIntents(flags: number, wanted: readonly GatewayIntentsString[]): readonly CheckResult[] {
  const asked = (['GuildMembers', 'GuildPresences', 'MessageContent'] as const).filter((one) => wanted.includes(one));
  return asked.map((intent) => {
    const [title, ...bits] = PRIVILEGED[intent];
    const ok = bits.some((bit) => (flags & bit) !== 0);
    return {
      ok,
      text: ok
        ? t('The {title} is switched on', { title })
        : t('The {title} is wanted by plugins, and switched off', { title }),
      remedy: t('Switch it on in the Developer Portal → Bot → Privileged Gateway Intents, and start the bot again.'),
    };
  });
}

/** Privileged intents that are not requested although a part of a switched-on plugin needs them. */
async function checkUnrequestedIntents(
  guildIds: readonly string[],
  plugins: readonly CheckedPlugin[],
  asked: readonly GatewayIntentsString[],
): Promise<readonly CheckResult[]> {
  const missing = (['GuildMembers', 'GuildPresences', 'MessageContent'] as const).filter((one) => !asked.includes(one));
  const found: CheckResult[] = [];
  for (const intent of missing) {
    const better: string[] = [];
    for (const { manifest, isOnIn } of plugins) {
      // Plugins that are on in every server do most of their work without them.
      if (manifest.enabledByDefault !== false || manifest.optionalIntents?.includes(intent) !== true) continue;
      const isOn = await Promise.all(guildIds.map(async (id) => isOnIn(id)));
      if (isOn.includes(true)) better.push(manifest.id);
    }
    if (better.length === 0) continue;
    const [title] = PRIVILEGED[intent];
    found.push({
      ok: false,
      text: t('Without the {title} a part of these plugins does not work: {plugins}', {
        title,
        plugins: better.sort().join(', '),
      }),
      remedy: t(
        'Switch it on in the Developer Portal → Bot → Privileged Gateway Intents, put {line} below `host` in config/shared.yaml, and start the bot again.',
        { line: `\`intents: [${intent}]\`` },
      ),
    });
  }
  return found;
}

/** Permissions with the plugins that need them. */
type Wanted = ReadonlyMap<PermissionsString, readonly string[]>;

async function wantedIn(guildId: string, plugins: readonly CheckedPlugin[]): Promise<Wanted> {
  const wanted = new Map<PermissionsString, string[]>();
  for (const { manifest, isOnIn } of plugins) {
    if (!(await isOnIn(guildId))) continue;
    for (const name of manifest.permissions ?? []) wanted.set(name, [...(wanted.get(name) ?? []), manifest.id]);
  }
  return wanted;
}

type CheckedGuild = z.output<typeof guildSchema>;
type CheckedChannel = z.output<typeof channelSchema>;
interface Holder {
  /** `undefined`: a member without roles. */
  readonly id: string | undefined;
  readonly roles: readonly string[];
}

/** Permissions that the bot lacks in the whole server, then in channels where members may write. */
function checkGuild(
  guild: CheckedGuild,
  channels: readonly CheckedChannel[],
  bot: Holder,
  wanted: Wanted,
): readonly CheckResult[] {
  const remedy = t(
    'Give a role of the bot these permissions, there or in the whole server; `bot invite` asks for all of them.',
  );
  const base = basePermissions(guild, bot);
  const lacking = [...wanted.keys()].filter((name) => !base.has(name));
  const findings: CheckResult[] = lacking.map((name) => ({
    ok: false,
    text: t('In {guild} the bot lacks {permission} (for {plugins})', {
      guild: guild.name,
      permission: permissionName(name),
      plugins: wanted.get(name)?.join(', ') ?? '',
    }),
    remedy,
  }));
  const inChannels = [...wanted.keys()].filter((name) => base.has(name) && OF_CHANNELS.has(PermissionFlagsBits[name]));
  const places = channels
    .filter(({ type }) => type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement)
    .filter((channel) =>
      permissionsIn(channel, guild, { id: undefined, roles: [] }).has(['ViewChannel', 'SendMessages']),
    )
    .flatMap((channel) => {
      const held = permissionsIn(channel, guild, bot);
      const missing = inChannels.filter((name) => !held.has(name));
      return missing.length === 0 ? [] : [`#${channel.name} (${missing.map(permissionName).join(', ')})`];
    });
  if (places.length > 0) {
    const more = Math.max(0, places.length - MOST_CHANNELS_NAMED);
    const named = [...places.slice(0, MOST_CHANNELS_NAMED), ...(more === 0 ? [] : [`+${more}`])].join(', ');
    findings.push({
      ok: false,
      text: t('In {guild} the bot lacks permissions in channels in which members write: {places}', {
        guild: guild.name,
        places: named,
      }),
      remedy,
    });
  }
  if (findings.length > 0) return findings;
  return [{ ok: true, text: t('In {guild} the bot has the permissions that plugins need', { guild: guild.name }) }];
}

/** Permissions that channel overwrites can change. */
const OF_CHANNELS = new PermissionsBitField([
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'CreatePublicThreads',
  'EmbedLinks',
  'AttachFiles',
  'AddReactions',
  'UseExternalEmojis',
  'ManageMessages',
  'ReadMessageHistory',
  'ManageThreads',
  'ManageWebhooks',
]);

function basePermissions(guild: CheckedGuild, { id, roles }: Holder): PermissionsBitField {
  const all = new PermissionsBitField();
  for (const role of guild.roles)
    if (role.id === guild.id || roles.includes(role.id)) all.add(BigInt(role.permissions));
  return id === guild.owner_id || all.has('Administrator') ? new PermissionsBitField(PermissionsBitField.All) : all;
}

/** https://docs.discord.com/developers/topics/permissions#permission-overwrites */
function permissionsIn(channel: CheckedChannel, guild: CheckedGuild, holder: Holder): PermissionsBitField {
  const held = basePermissions(guild, holder);
  if (held.has('Administrator')) return held;
  const apply = (matches: (one: CheckedChannel['permission_overwrites'][number]) => boolean) => {
    const overwrites = channel.permission_overwrites.filter(matches);
    for (const { deny } of overwrites) held.remove(BigInt(deny));
    for (const { allow } of overwrites) held.add(BigInt(allow));
  };
  apply(({ id }) => id === guild.id);
  apply(({ id, type }) => type === OverwriteType.Role && id !== guild.id && holder.roles.includes(id));
  apply(({ id, type }) => type === OverwriteType.Member && id === holder.id);
  return held;
}
