import {
  type Access,
  type AskFirst,
  type AuditLog,
  asNotice,
  CinnabarError,
  type CommandContext,
  operatorSentenceOf,
  option,
  type PluginInfo,
  type Plugins,
  type Registrar,
  type SettingsCatalog,
  subcommand,
  type Tools,
} from '@cinnabar/sdk';
import { code } from './format.js';
import { guildOf } from './guild-of.js';
import { detailsOf, listOfPlugins, reloadText, stateIn } from './plugin-report.js';
import { pluginIds } from './suggestions.js';

export interface PluginCommandParts {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly askFirst: AskFirst;
  readonly plugins: Plugins;
  readonly catalog: SettingsCatalog;
  readonly tools: Pick<Tools, 'list'>;
  /** This plugin's own id: it cannot wait for its own reload. */
  readonly ownId: string;
}

const OWNER = { tier: 'botOwner' } as const;
const ADMIN = { tier: 'admin', where: 'guild' } as const;
/** Direct messages have no admins: there, only the bot's owner has the tier. */
const ADMIN_OR_DM = { tier: 'admin' } as const;

/** `!plugin …`: what touches the process is the bot owner's, what touches the guild its admins'. */
export function registerPluginCommands(
  { group, log }: Pick<Registrar, 'group' | 'log'>,
  parts: PluginCommandParts,
): void {
  const { access, audit, askFirst, plugins, catalog, ownId } = parts;
  const suggestId = pluginIds(plugins);
  const id = option.suggested(suggestId).describe('Id of the plugin');

  group({
    name: 'plugin',
    description: 'See and control plugins',
    commands: [
      subcommand({
        name: 'list',
        description: 'List the plugins and whether they are on here',
        access: ADMIN_OR_DM,
        run: (ctx) => ctx.reply(listOfPlugins(plugins, ctx.actor.guildId)),
      }),
      subcommand({
        name: 'info',
        description: 'Show everything about a plugin',
        access: ADMIN_OR_DM,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const info = known(plugins, plugin);
          const settings = catalog.plugins().includes(info.id) ? await catalog.describe(info.id, ctx.actor) : [];
          const own = parts.tools.list().filter((tool) => tool.plugin === info.id);
          const isOperator = (await access.tierOf(ctx.actor)) === 'botOwner';
          return ctx.reply(
            detailsOf({
              info,
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
          const waits =
            info.state === 'running' ? '' : ` It is ${info.state}: ${info.problem ?? 'it does not run yet'}`;
          return ctx.reply(`Loaded ${code(info.id)} ${info.manifest.version}.${waits}`);
        },
      }),
      subcommand({
        name: 'unload',
        description: 'Stop a plugin and take back all it registered',
        access: OWNER,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const { leftovers } = await plugins.unload(plugin);
          const left = leftovers.map((one) => `• ${one}`);
          const warning = left.length === 0 ? [] : ['It had left timers running, which are cleared now:', ...left];
          return ctx.reply([`Unloaded ${code(plugin)}.`, ...warning].join('\n'));
        },
      }),
      subcommand({
        name: 'reload',
        description: 'Replace a plugin by its newest version',
        access: OWNER,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          if (plugin === ownId) return reloadSelf(ctx);
          await ctx.defer();
          return ctx.reply(reloadText(await plugins.reload(plugin)));
        },
      }),
      subcommand({
        name: 'enable',
        description: 'Switch a plugin on in this server',
        access: ADMIN,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          await plugins.enable(guildOf(ctx.actor), plugin);
          return ctx.reply(`${code(plugin)} is on in this server now.`);
        },
      }),
      subcommand({
        name: 'disable',
        description: 'Switch a plugin off in this server',
        access: ADMIN,
        options: { plugin: id },
        async run(ctx, { plugin }) {
          const guildId = guildOf(ctx.actor);
          const { id, manifest } = known(plugins, plugin);
          const off = async () => {
            await plugins.disable(guildId, id);
            return `${code(id)} is off in this server now. Its commands and tools are gone here; its data stays.`;
          };
          if (manifest.disabling === undefined || !plugins.enabledIn(guildId, id)) return ctx.reply(await off());
          return askFirst(ctx, {
            content: `${manifest.disabling}\nSwitch ${code(id)} off in this server?`,
            yes: 'Switch it off',
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

  /** The command must have ended before its plugin can be replaced, so the result is told afterwards. */
  async function reloadSelf(ctx: CommandContext): Promise<void> {
    const message = await ctx.reply(`Reloading ${code(ownId)} …`);
    const tell = (content: string) => message.edit({ content: asNotice(content), allowedMentions: { parse: [] } });
    plugins
      .reload(ownId)
      .then(
        reloadText,
        (error: unknown) => operatorSentenceOf(error) ?? `${code(ownId)} could not be reloaded; it is in the log.`,
      )
      .then(tell)
      .catch((error: unknown) => log.error('the result of a reload could not be told', { error }));
  }
}

/** Permissions that the bot has nowhere in the server. */
function missingIn({ guild }: CommandContext, wanted: PluginInfo['manifest']['permissions'] = []): readonly string[] {
  const me = guild?.members.me;
  return me == null ? [] : me.permissions.missing([...wanted], true);
}

function known(plugins: Plugins, id: string): PluginInfo {
  const info = plugins.list().find((candidate) => candidate.id === id.toLowerCase());
  if (info === undefined) throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id });
  return info;
}
