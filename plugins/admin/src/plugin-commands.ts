import {
  asNotice,
  CinnabarError,
  type CommandContext,
  createAskFirst,
  operatorSentenceOf,
  option,
  type PluginInfo,
  type Plugins,
  permissionName,
  type ReloadReport,
  requireGuildId,
  type SettingInfo,
  type SetupNeed,
  type Subcommand,
  subcommand,
  type ToolInfo,
  t,
  translated,
  z,
} from '@cinnabar/sdk';
import { PermissionFlagsBits, PermissionsBitField, type PermissionsString } from 'discord.js';
import { type AdminContext, ID } from './context.js';
import { code, codes, riskWord, stateWord, suggestFrom } from './format.js';

const OWNER = { tier: 'botOwner' } as const;
const ADMIN = { tier: 'admin', where: 'guild' } as const;
/** In direct messages, which have no admins, only the bot's owner has this tier. */
const ADMIN_OR_DM = { tier: 'admin' } as const;

/**
 * `!plugin …`: changes to the process are for the bot's owner, changes in the guild for its admins.
 * @param packages the commands for third-party plugins
 */
export function registerPluginCommands(
  { group, component, client, services, log }: AdminContext,
  packages: readonly Subcommand[],
): void {
  const { access, audit, plugins, catalog, tools } = services;
  const askFirst = createAskFirst({ component, ...services, access: ADMIN });
  const suggestId = suggestFrom(() => plugins.list().map(({ id }) => id));
  const id = option.suggested(suggestId).describe('Id of the plugin');

  group({
    name: 'plugin',
    description: 'See and control plugins',
    commands: [
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the plugins and whether they are on here',
        access: ADMIN_OR_DM,
        async run(ctx) {
          const isOperator = (await access.tierOf(ctx.actor)) === 'botOwner';
          return ctx.reply(listOfPlugins(plugins, ctx.actor.guildId, isOperator));
        },
      }),
      ...packages,
      subcommand({
        name: 'info',
        reads: true,
        description: 'Show everything about a plugin',
        access: ADMIN_OR_DM,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const info = known(services, plugin);
          const settings = catalog.plugins().includes(info.id) ? await catalog.describe(info.id, ctx.actor) : [];
          const own = tools.list().filter((tool) => tool.plugin === info.id);
          const isOperator = (await access.tierOf(ctx.actor)) === 'botOwner';
          return ctx.reply(
            detailsOf({
              info,
              need: info.state === 'running' ? await plugins.setupNeed(ctx.actor.guildId, info.id) : undefined,
              state: stateIn(plugins, info, ctx.actor.guildId),
              settings,
              tools: own,
              isOperator,
              missing: missingIn(ctx, info.manifest.permissions),
            }),
          );
        },
      }),
      subcommand({
        name: 'load',
        description: 'Load a plugin by id or folder',
        access: OWNER,
        options: { plugin: option.suggested(suggestId).describe('Id, or a folder in one of the plugin folders') },
        async run(ctx, { plugin }) {
          const info = await plugins.load(plugin);
          const loaded = t('Loaded {plugin} {version}.', { plugin: code(info.id), version: info.manifest.version });
          if (info.state === 'running') return ctx.reply(loaded);
          const problem = info.problem ?? t('it does not run yet');
          return ctx.reply(`${loaded} ${t('It is {state}: {problem}', { state: stateWord(info.state), problem })}`);
        },
      }),
      subcommand({
        name: 'unload',
        description: 'Stop a plugin and remove all it registered',
        access: OWNER,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const { leftovers } = await plugins.unload(plugin);
          const left = leftovers.map((one) => `• ${one}`);
          const warning = left.length === 0 ? [] : [t('It had left timers running, which are cleared now:'), ...left];
          return ctx.reply([t('Unloaded {plugin}.', { plugin: code(plugin) }), ...warning].join('\n'));
        },
      }),
      subcommand({
        name: 'reload',
        description: 'Replace a plugin by its newest version',
        access: OWNER,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          if (plugin === ID) return reloadSelf(ctx);
          await ctx.defer();
          return ctx.reply(reloadText(await plugins.reload(plugin)));
        },
      }),
      subcommand({
        name: 'default',
        description: 'Choose whether a plugin is on in servers that have not chosen',
        help: 'Holds for all servers whose admins have switched it neither on nor off, new ones too, and for direct messages. `reset`: as its author wants it.',
        access: OWNER,
        options: { plugin: id, state: z.enum(['on', 'off', 'reset']).describe('on, off, or reset') },
        examples: ['plugin default persona off'],
        async run(ctx, { plugin, state }) {
          const info = known(services, plugin);
          await plugins.setDefault(info.id, state === 'reset' ? undefined : state === 'on');
          const isOn = plugins.enabledIn(null, info.id);
          return ctx.reply(
            isOn
              ? t('{plugin} is on by default now.', { plugin: code(info.id) })
              : t('{plugin} is off by default now.', { plugin: code(info.id) }),
          );
        },
      }),
      subcommand({
        name: 'enable',
        description: 'Switch a plugin on in this server',
        access: ADMIN,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const guildId = requireGuildId(ctx.actor);
          const { id, state, manifest } = known(services, plugin);
          await plugins.enable(guildId, id);
          const need = state === 'running' ? await plugins.setupNeed(guildId, id) : undefined;
          const missing = missingIn(ctx, manifest.permissions);
          const missingIntents = (manifest.optionalIntents ?? []).filter(
            (intent) => !client.options.intents.has(intent),
          );
          return ctx.reply(
            [
              t('{plugin} is on in this server now.', { plugin: code(id) }),
              ...(need === undefined ? [] : [`⚠️ ${need.problem} ${need.remedy}`]),
              ...(missingIntents.length === 0
                ? []
                : [
                    `⚠️ ${t('Part of it does not work: the owner of the bot has to allow me intents in the Developer Portal and in my configuration (`intents`): {intents}.', { intents: codes(missingIntents) })}`,
                  ]),
              ...(missing.length === 0
                ? []
                : [
                    `⚠️ ${t('I lack permissions for it here: {permissions}.', { permissions: missing.map(permissionName).join(', ') })}`,
                  ]),
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'disable',
        description: 'Switch a plugin off in this server',
        access: ADMIN,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const guildId = requireGuildId(ctx.actor);
          const { id, manifest } = known(services, plugin);
          const off = async () => {
            await plugins.disable(guildId, id);
            return t('{plugin} is off in this server now. Its commands and tools are gone here; its data stays.', {
              plugin: code(id),
            });
          };
          if (manifest.disabling === undefined || !plugins.enabledIn(guildId, id)) return ctx.reply(await off());
          return askFirst(ctx, {
            content: [
              translated(manifest.disabling),
              t('Switch {plugin} off in this server?', { plugin: code(id) }),
            ].join('\n'),
            yes: t('Switch it off'),
            async run() {
              const done = await off();
              audit.record({ actor: ctx.actor, act: `plugin disable ${id} (agreed)`, outcome: 'done' });
              return done;
            },
          });
        },
      }),
    ],
  });

  /** Reloads this plugin. The reload waits for this command to end, so the message is edited afterwards. */
  async function reloadSelf(ctx: CommandContext): Promise<void> {
    const message = await ctx.reply(t('Reloading {plugin} …', { plugin: code(ID) }));
    const showResult = (content: string) =>
      message.edit({ content: asNotice(content), allowedMentions: { parse: [] } });
    plugins
      .reload(ID)
      .then(
        reloadText,
        (error: unknown) =>
          operatorSentenceOf(error) ?? t('{plugin} could not be reloaded; it is in the log.', { plugin: code(ID) }),
      )
      .then(showResult)
      .catch((error: unknown) => log.error('the result of a reload could not be shown', { error }));
  }
}

/** Permissions that the bot lacks in the whole server. */
export function missingIn(
  { guild }: CommandContext,
  wanted: PluginInfo['manifest']['permissions'] = [],
): readonly string[] {
  const me = guild?.members.me;
  return me == null ? [] : me.permissions.missing([...wanted], true);
}

function known({ commands, plugins }: AdminContext['services'], id: string): PluginInfo {
  const list = plugins.list();
  const info = list.find((candidate) => candidate.id === id.toLowerCase());
  if (info !== undefined) return info;
  const [meant] = commands.similar(
    id,
    list.map((one) => ({ name: one.id })),
  );
  const hint = meant === undefined ? '' : ` ${t('Did you mean "{meant}"?', { meant })}`;
  throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id, hint });
}

/** `!plugin list`: a line for each plugin, with its state in this guild; the bot's owner also sees errors. */
function listOfPlugins(plugins: Plugins, guildId: string | null, isOperator: boolean): string {
  const lines = plugins.list().flatMap((info) => {
    const { id, state, manifest, problem } = info;
    const line = `• ${code(id)} ${manifest.version}, ${stateIn(plugins, info, guildId)}: ${translated(manifest.description)}`;
    return isOperator && state === 'failed' && problem !== undefined ? [line, `  ⚠️ ${problem}`] : [line];
  });
  return [t('**Plugins** ({count})', { count: lines.length }), ...lines].join('\n');
}

/** A plugin's state in a guild: "running, on here". */
function stateIn(plugins: Plugins, { id, state }: PluginInfo, guildId: string | null): string {
  if (state !== 'running' || guildId === null) return stateWord(state);
  return plugins.enabledIn(guildId, id) ? t('running, on here') : t('running, off here');
}

interface PluginDetails {
  readonly info: PluginInfo;
  readonly state: string;
  /** The configuration that is missing here. */
  readonly need: SetupNeed | undefined;
  readonly settings: readonly SettingInfo[];
  readonly tools: readonly ToolInfo[];
  /** Whether the reader is the bot's owner: only the owner sees paths on the host, and why a plugin does not run. */
  readonly isOperator: boolean;
  /** Permissions that the bot lacks in this server. */
  readonly missing: readonly string[];
}

/** `!plugin info`: a plugin's description, requirements, services and registrations. */
function detailsOf({ info, state, need, settings, tools, isOperator, missing }: PluginDetails): string {
  const { manifest } = info;
  const forOperators = t('the bot’s owner can see what is wrong');
  const lines: readonly (readonly [label: string, value: string])[] = [
    [t('State'), state],
    [t('⚠️ Not set up here'), need === undefined ? '' : `${need.problem} ${need.remedy}`],
    [t('Problem'), info.problem === undefined || isOperator ? (info.problem ?? '') : forOperators],
    [t('Source'), isOperator ? `${info.source}, ${code(info.path)}` : info.source],
    [t('Author'), manifest.author ?? ''],
    [t('Needs host'), manifest.host ?? ''],
    [
      t('Notes'),
      [
        manifest.required ? t('cannot be switched off') : '',
        manifest.guard ? t('tools do not run without it') : '',
        manifest.enabledByDefault === false ? t('off until an admin enables it') : '',
      ]
        .filter((note) => note !== '')
        .join('; '),
    ],
    [t('Intents'), (manifest.intents ?? []).join(', ')],
    [t('Permissions'), (manifest.permissions ?? []).map(permissionName).join(', ')],
    [t('⚠️ Missing here'), missing.map(permissionName).join(', ')],
    [t('Environment'), codes(info.env)],
    [t('Hosts'), codes(manifest.hosts ?? [])],
    [t('Tools'), tools.map(({ name, risk }) => `${code(name)} (${riskWord(risk)})`).join(', ')],
    [t('Provides'), codes(info.provides)],
    [t('Injects'), codes(info.injects)],
    [t('Settings'), codes(settings.map(({ key }) => key))],
    [t('Registered'), codes(info.effects)],
  ];
  const power =
    info.source === 'bundled'
      ? []
      : [
          t(
            '⚠️ It does not come with the host, and runs in its process: it can do whatever the bot can, read its memory and its data, and reach any address. The list above is only what it says about itself.',
          ),
        ];
  return [
    `**${manifest.id}** ${manifest.version}: ${translated(manifest.description)}`,
    ...lines.filter(([, value]) => value !== '').map(([label, value]) => `${label}: ${value}`),
    ...power,
  ].join('\n');
}

/** The changes of a reload. */
export function reloadText({ id, from, to, changes }: ReloadReport): string {
  const versions = from === to ? to : `${from} → ${to}`;
  if (changes.length === 0)
    return t('Reloaded {plugin} {versions}: nothing visible changed.', { plugin: code(id), versions });
  const heading = t('Reloaded {plugin} {versions}:', { plugin: code(id), versions });
  return [heading, ...changes.map((change) => `• ${change}`)].join('\n');
}

/** Logs the permissions that plugins need and the bot lacks, for each server. */
export function logMissingPermissions({ client, services: { plugins }, log }: AdminContext): void {
  const declared = plugins
    .list()
    .filter(({ state }) => state === 'running')
    .map(({ id, manifest: { permissions = [] } }) => ({ id, needed: new PermissionsBitField([...permissions]) }));
  const { bitfield: all } = new PermissionsBitField(declared.map(({ needed }) => needed));
  // Compares bits: the methods of discord.js resolve names and lists for each server.
  const suffices = ({ bitfield }: Readonly<PermissionsBitField>) =>
    (bitfield & all) === all || (bitfield & PermissionFlagsBits.Administrator) !== 0n;
  const ownId = client.user?.id;
  for (const guild of client.guilds.cache.values()) {
    // In most of thousands of servers the bot's managed role suffices, and checking that is much faster than adding up all roles of the bot's member.
    if (guild.roles.cache.some(({ tags, permissions }) => tags?.botId === ownId && suffices(permissions))) continue;
    const held = guild.members.me?.permissions;
    if (held === undefined || suffices(held)) continue;
    const byPermission = new Map<PermissionsString, string[]>();
    for (const { id, needed } of declared) {
      if (!plugins.enabledIn(guild.id, id)) continue;
      for (const permission of held.missing(needed)) {
        byPermission.set(permission, [...(byPermission.get(permission) ?? []), id]);
      }
    }
    if (byPermission.size === 0) continue;
    const missing = [...byPermission].map(
      ([permission, ids]) => `${permissionName(permission)} (for ${ids.join(', ')})`,
    );
    log.warn(`the bot lacks permissions in ${guild.name}: ${missing.join('; ')}`, { guildId: guild.id });
  }
}
