import {
  needsConsent,
  offerLines,
  type PluginInfo,
  type PreparedPlugin,
  t,
  translated,
  UserError,
  type WebButton,
  type WebResult,
  type WebRow,
  webAct,
  z,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { type AdminContext, ID } from '../context.js';
import { stateWord } from '../format.js';
import { installedText } from '../install-commands.js';
import { reloadText } from '../plugin-commands.js';

/** Maximum number of downloaded packages that wait for consent. */
const MOST_WAITING = 5;
const WAITS_MS = 30 * 60_000;

const plugin = z.object({ plugin: z.string() });

/** The page about the plugins of the process, including third-party ones. */
export function registerBotPluginsPage({ page, defer, services, log }: AdminContext): void {
  const { packages, plugins, random } = services;
  const discard = (prepared: PreparedPlugin) =>
    void prepared.discard().catch((error: unknown) => log.warn('a fetched plugin could not be removed', { error }));
  const waiting = new LRUCache<string, PreparedPlugin>({
    max: MOST_WAITING,
    ttl: WAITS_MS,
    dispose: (prepared, _, why) => why !== 'delete' && discard(prepared),
  });
  defer(() => waiting.clear());

  /** Shows a package's declaration, with the button that installs it. */
  const offer = (prepared: PreparedPlugin): WebResult => {
    const token = random.id();
    waiting.set(token, prepared);
    const { update, id } = prepared.offer;
    const label = update === undefined ? t('Install it') : t('Update it');
    return {
      said:
        update === undefined
          ? t('This is what {plugin} asks for.', { plugin: `\`${id}\`` })
          : t('This is what {plugin} asks for now.', { plugin: `\`${id}\`` }),
      blocks: [
        ...offerLines(prepared.offer).map((text) => ({ kind: 'text', text }) as const),
        { kind: 'buttons', buttons: [{ act: 'agree', label, input: { token, plugin: id } }] },
      ],
    };
  };

  const install = async (prepared: PreparedPlugin): Promise<string> => {
    await prepared.install();
    return installedText(prepared.offer, plugins);
  };

  page({
    name: 'bot-plugins',
    title: 'Plugins',
    description: 'What runs in the bot, and what is installed beside it.',
    about: 'bot',
    group: 'operation',
    access: { command: 'plugin load' },
    async view() {
      const installed = await packages.list();
      const problems = new Map(installed.flatMap(({ id, problem }) => (problem === undefined ? [] : [[id, problem]])));
      return {
        blocks: [
          {
            kind: 'table',
            columns: [{ name: t('Plugin') }, { name: t('Version') }, { name: t('State') }, { name: t('What it does') }],
            rows: plugins.list().map((info) => rowOf(info, problems.get(info.id))),
            empty: t('No plugin has been found.'),
          },
          {
            kind: 'form',
            act: 'prepare',
            title: t('Install a plugin'),
            text: t(
              'From npm, a tarball, git, a folder, or a registry file of the configuration. Nothing of it runs before you have seen what it declares.',
            ),
            fields: [
              {
                name: 'spec',
                label: t('Package'),
                control: { kind: 'text', placeholder: 'cinnabar-plugin-dice@^1.0.0' },
              },
            ],
            submit: t('Fetch it'),
          },
          { kind: 'buttons', buttons: [{ act: 'updates', label: t('Look for newer versions') }] },
        ],
      };
    },
    acts: {
      load: webAct({
        effect: 'changes',
        input: plugin,
        audit: (input) => `plugin load ${input.plugin}`,
        async run(input) {
          const { id, manifest } = await plugins.load(input.plugin);
          return t('Loaded {plugin} {version}.', { plugin: `\`${id}\``, version: manifest.version });
        },
      }),
      unload: webAct({
        effect: 'destroys',
        question: ({ plugin: id = '' }) =>
          t('Stop {plugin} in all servers, until it is loaded again?', { plugin: `\`${id}\`` }),
        input: plugin,
        access: { command: 'plugin unload' },
        audit: (input) => `plugin unload ${input.plugin}`,
        async run(input) {
          await plugins.unload(input.plugin);
          return {
            said: t('Unloaded {plugin}.', { plugin: `\`${input.plugin}\`` }),
            undo: { act: 'load', input },
          };
        },
      }),
      reload: webAct({
        effect: 'changes',
        input: plugin,
        access: { command: 'plugin reload' },
        audit: (input) => `plugin reload ${input.plugin}`,
        async run(input) {
          // The reload of this plugin would wait for this act to end.
          if (input.plugin === ID)
            throw new UserError(t('The plugin that these pages belong to is reloaded with `plugin reload admin`.'));
          return reloadText(await plugins.reload(input.plugin));
        },
      }),
      prepare: webAct({
        effect: 'changes',
        input: z.object({ spec: z.string().min(1) }),
        access: { command: 'plugin install' },
        run: async ({ spec }) => offer(await packages.prepare(spec)),
      }),
      update: webAct({
        effect: 'changes',
        input: plugin,
        access: { command: 'plugin update' },
        audit: (input) => `plugin update ${input.plugin}`,
        async run(input) {
          const prepared = await packages.prepareUpdate(input.plugin);
          if (prepared === undefined) return t('{plugin} is up to date.', { plugin: `\`${input.plugin}\`` });
          return needsConsent(prepared.offer) ? offer(prepared) : install(prepared);
        },
      }),
      agree: webAct({
        effect: 'changes',
        input: z.object({ token: z.string(), plugin: z.string() }),
        access: { command: 'plugin install' },
        audit: (input) => `plugin install ${input.plugin} (agreed)`,
        async run({ token }) {
          const prepared = waiting.get(token);
          if (prepared === undefined) throw new UserError(t('That was fetched too long ago. Please fetch it again.'));
          waiting.delete(token);
          return install(prepared);
        },
      }),
      remove: webAct({
        effect: 'destroys',
        question: ({ plugin: id = '' }) =>
          t('Remove {plugin}? Its settings and documents stay; `plugin remove {id} delete` removes them, too.', {
            plugin: `\`${id}\``,
            id,
          }),
        input: plugin,
        access: { command: 'plugin remove' },
        audit: (input) => `plugin remove ${input.plugin} (agreed)`,
        async run(input) {
          await packages.remove(input.plugin, { withData: false });
          return t('Removed {plugin}. Its settings and documents stay.', { plugin: `\`${input.plugin}\`` });
        },
      }),
      updates: webAct({
        effect: 'shows',
        input: z.object({}),
        access: { command: 'plugin updates' },
        async run() {
          const { updates, problems } = await packages.updates();
          const said =
            updates.length === 0
              ? t('Everything that is installed is up to date.')
              : t('{count, plural, one {There is # newer version.} other {There are # newer versions.}}', {
                  count: updates.length,
                });
          return {
            said,
            blocks: [
              ...problems.map((text) => ({ kind: 'notice', tone: 'warning', text }) as const),
              {
                kind: 'table',
                columns: [{ name: t('Plugin') }, { name: t('Installed') }, { name: t('Newer') }],
                rows: updates.map(({ id, from, to, pinned }) => ({
                  id,
                  cells: [id, from, pinned ? t('{version} (pinned)', { version: to }) : to],
                  buttons: pinned ? [] : [{ act: 'update', label: t('Update'), input: { plugin: id } }],
                })),
                empty: t('Nothing is newer.'),
              },
            ],
          };
        },
      }),
    },
  });
}

function rowOf({ id, manifest, state, problem, source }: PluginInfo, damage: string | undefined): WebRow {
  const trouble = damage ?? problem;
  const tone = trouble !== undefined || state === 'failed' ? 'bad' : state === 'running' ? 'good' : 'plain';
  return {
    id,
    cells: [id, manifest.version, { badge: stateWord(state), tone }, trouble ?? translated(manifest.description)],
    buttons: [...running(id, state), ...(source === 'package' ? ofPackage(id) : [])],
  };
}

function running(id: string, state: PluginInfo['state']): readonly WebButton[] {
  const input = { plugin: id };
  if (id === ID) return [];
  if (state === 'stopped' || state === 'failed') return [{ act: 'load', label: t('Load'), input }];
  return [
    { act: 'reload', label: t('Reload'), input },
    {
      act: 'unload',
      label: t('Unload'),
      tone: 'danger',
      input,
    },
  ];
}

const ofPackage = (id: string): readonly WebButton[] => [
  { act: 'update', label: t('Update'), input: { plugin: id } },
  {
    act: 'remove',
    label: t('Remove'),
    tone: 'danger',
    input: { plugin: id },
  },
];
