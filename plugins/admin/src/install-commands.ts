import {
  asNotice,
  type CommandContext,
  createAskFirst,
  type InstalledPlugin,
  needsConsent,
  offerLines,
  option,
  type PluginOffer,
  type Plugins,
  type PreparedPlugin,
  permissionName,
  type Subcommand,
  subcommand,
  t,
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from './context.js';
import { code, suggestFrom } from './format.js';
import { missingIn } from './plugin-commands.js';

const OWNER = { tier: 'botOwner' } as const;

/** `!plugin install`, `update`, `remove`, `pin`, `unpin`, `updates` and `search`: third-party plugins, for the bot's owner. */
export function installSubcommands({ component, services, log }: AdminContext): readonly Subcommand[] {
  const { audit, packages, plugins } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'plugin-install', access: OWNER });
  const suggestId = suggestFrom(() =>
    plugins
      .list()
      .filter(({ source }) => source === 'package')
      .map(({ id }) => id),
  );
  const installed = option.suggested(suggestId).describe('Id of an installed plugin');

  /** A message with the progress of long work. For a slash command, Discord shows a progress indicator. */
  const showSteps = async (ctx: CommandContext): Promise<(step: string) => void> => {
    await ctx.defer();
    if (ctx.source === 'slash') return () => undefined;
    let message: ReturnType<CommandContext['reply']> | undefined;
    let last = Promise.resolve();
    return (step) => {
      last = last
        .then(async () => {
          if (message === undefined) message = ctx.reply(step);
          else await (await message).edit({ content: asNotice(step), allowedMentions: { parse: [] } });
          await message;
        })
        .catch((error: unknown) => log.debug('the progress of an installation could not be shown', { error }));
    };
  };

  const install = async (ctx: CommandContext, prepared: PreparedPlugin): Promise<string> => {
    const { id, version, update } = prepared.offer;
    await prepared.install();
    const act = update === undefined ? 'install' : 'update';
    audit.record({ actor: ctx.actor, act: `plugin ${act} ${id} ${version} (agreed)`, outcome: 'done' });
    return installedText(prepared.offer, plugins);
  };

  const ask = (ctx: CommandContext, prepared: PreparedPlugin) => {
    const { offer } = prepared;
    const missing = missingIn(ctx, offer.declared.permissions);
    return askFirst(ctx, {
      content: [
        ...offerLines(offer),
        ...(missing.length === 0
          ? []
          : [
              t('⚠️ Permissions that the bot lacks here: {permissions}', {
                permissions: missing.map(permissionName).join(', '),
              }),
            ]),
      ].join('\n'),
      yes: offer.update === undefined ? t('Install it') : t('Update it'),
      run: () => install(ctx, prepared),
    });
  };

  return [
    subcommand({
      name: 'install',
      description: 'Install a plugin from npm, a tarball, git, a folder, or a registry file',
      help: 'Shows what it declares, and asks before anything of it runs in the bot. `cinnabar plugin add` does the same while the bot is stopped.',
      access: OWNER,
      options: {
        spec: option.rest().describe('cinnabar-plugin-dice@^1.0.0, an address, github:owner/name, a path, or an id'),
      },
      examples: ['plugin install cinnabar-plugin-dice'],
      async run(ctx, { spec }) {
        const onStep = await showSteps(ctx);
        return ask(ctx, await packages.prepare(spec, onStep));
      },
    }),
    subcommand({
      name: 'update',
      description: 'Update an installed plugin; asks when it wants more than before',
      access: OWNER,
      options: { plugin: option.suggested(suggestId).describe('Its id, or the wanted version: dice2@2.0.0') },
      async run(ctx, { plugin }) {
        const onStep = await showSteps(ctx);
        const prepared = await packages.prepareUpdate(plugin, onStep);
        if (prepared === undefined) return ctx.reply(t('{plugin} is up to date.', { plugin: code(plugin) }));
        if (needsConsent(prepared.offer)) return ask(ctx, prepared);
        return ctx.reply(await install(ctx, prepared));
      },
    }),
    subcommand({
      name: 'remove',
      description: 'Remove an installed plugin',
      access: OWNER,
      options: {
        plugin: installed,
        data: z.enum(['keep', 'delete']).default('keep').describe('Whether its settings and documents stay'),
      },
      examples: ['plugin remove dice2'],
      run: (ctx, { plugin, data }) =>
        askFirst(ctx, {
          content:
            data === 'keep'
              ? t('Remove {plugin}? Its settings and documents stay; `plugin remove {id} delete` removes them, too.', {
                  plugin: code(plugin),
                  id: plugin,
                })
              : t('Remove {plugin} with all its settings and documents? They cannot be had back.', {
                  plugin: code(plugin),
                }),
          yes: t('Remove it'),
          async run() {
            await packages.remove(plugin, { withData: data === 'delete' });
            audit.record({ actor: ctx.actor, act: `plugin remove ${plugin} (agreed)`, outcome: 'done' });
            return data === 'keep'
              ? t('Removed {plugin}. Its settings and documents stay.', { plugin: code(plugin) })
              : t('Removed {plugin} with its settings and documents.', { plugin: code(plugin) });
          },
        }),
    }),
    subcommand({
      name: 'pin',
      description: 'Keep an installed plugin at its version',
      access: OWNER,
      options: { plugin: installed },
      async run(ctx, { plugin }) {
        const { version } = await packages.pin(plugin, true);
        return ctx.reply(t('{plugin} stays at {version}.', { plugin: code(plugin), version }));
      },
    }),
    subcommand({
      name: 'unpin',
      description: 'Let an installed plugin be updated again',
      access: OWNER,
      options: { plugin: installed },
      async run(ctx, { plugin }) {
        await packages.pin(plugin, false);
        return ctx.reply(t('{plugin} is updated again.', { plugin: code(plugin) }));
      },
    }),
    subcommand({
      name: 'updates',
      description: 'List the installed plugins, and what there is newer',
      access: OWNER,
      async run(ctx) {
        await ctx.defer();
        const all = await packages.list();
        if (all.length === 0) return ctx.reply(t('No plugins are installed beside those that come with the host.'));
        const { updates, problems } = await packages.updates();
        const newer = new Map(updates.map(({ id, to }) => [id, to]));
        return ctx.reply(
          [...all.map((one) => lineOf(one, newer.get(one.id))), ...problems.map((one) => `⚠️ ${one}`)].join('\n'),
        );
      },
    }),
    subcommand({
      name: 'search',
      description: 'Search the registry files of the configuration',
      access: OWNER,
      options: { words: option.rest().optional().describe('Words of its id or description') },
      async run(ctx, { words = '' }) {
        await ctx.defer();
        const { found, problems } = await packages.search(words);
        const lines = found.map(({ id, version, description }) => `• ${code(id)} ${version}: ${description}`);
        const none = lines.length === 0 ? [t('Nothing was found.')] : [];
        return ctx.reply([...lines, ...none, ...problems.map((one) => `⚠️ ${one}`)].join('\n'));
      },
    }),
  ];
}

/** The answer after a plugin was installed or updated. */
export function installedText({ id, version, update }: PluginOffer, plugins: Pick<Plugins, 'list'>): string {
  const problem = plugins.list().find((one) => one.id === id)?.problem;
  const done =
    update === undefined
      ? t('Installed {plugin} {version}.', { plugin: code(id), version })
      : t('Updated {plugin} from {from} to {version}.', { plugin: code(id), from: update.from, version });
  return [done, ...(problem === undefined ? [] : [`⚠️ ${problem}`])].join('\n');
}

function lineOf({ id, version, pinned, problem }: InstalledPlugin, newer: string | undefined): string {
  const params = { plugin: code(id), version, newer: newer ?? '' };
  const state =
    newer === undefined
      ? t('{plugin} {version}', params)
      : pinned
        ? t('{plugin} {version}: there is {newer}, but it is pinned', params)
        : t('{plugin} {version}: there is {newer}', params);
  return [`• ${state}`, ...(problem === undefined ? [] : [`⚠️ ${problem}`])].join('\n');
}
