import {
  type PluginInfo,
  type PluginState,
  requireGuildId,
  t,
  translated,
  type WebButton,
  type WebRow,
  type WebValue,
  webAct,
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from '../context.js';
import { stateWord } from '../format.js';

const plugin = z.object({ plugin: z.string() });

/** The page about plugins in a guild: which are enabled, and which need configuration. */
export function registerPluginsPage({ page, services }: AdminContext): void {
  const { plugins, catalog } = services;

  const rowOf = async (info: PluginInfo, guildId: string): Promise<WebRow> => {
    const { id, manifest, state } = info;
    const isOn = plugins.enabledIn(guildId, id);
    const need = isOn && state === 'running' ? await plugins.setupNeed(guildId, id) : undefined;
    const settings: WebValue = catalog.plugins().includes(id)
      ? { link: { page: 'admin/settings', query: { plugin: id } }, text: t('Settings') }
      : null;
    const about = need === undefined ? translated(manifest.description) : `${need.problem} ${need.remedy}`;
    const buttons = manifest.required === true ? [] : [switchOf(info, isOn)];
    return { id, cells: [id, stateOf(state, isOn, need !== undefined), about, settings], buttons };
  };

  const disablingQuestion = (id: string): string => {
    const { disabling } = plugins.list().find((one) => one.id === id)?.manifest ?? {};
    const warning = disabling === undefined ? '' : `${translated(disabling)} `;
    return `${warning}${t('Switch {plugin} off in this server?', { plugin: `\`${id}\`` })}`;
  };

  page({
    name: 'plugins',
    title: 'Plugins',
    description: 'What the bot can do in this server.',
    about: 'guild',
    group: 'server',
    access: { command: 'plugin list' },
    async view({ actor }) {
      const guildId = requireGuildId(actor);
      const rows = await Promise.all(plugins.list().map((info) => rowOf(info, guildId)));
      return {
        blocks: [
          {
            kind: 'table',
            columns: [{ name: t('Plugin') }, { name: t('State') }, { name: t('What it does') }, { name: '' }],
            rows,
            empty: t('No plugin has been found.'),
          },
        ],
      };
    },
    acts: {
      enable: webAct({
        effect: 'changes',
        input: plugin,
        access: { command: 'plugin enable' },
        audit: (input) => `plugin enable ${input.plugin}`,
        async run(input, { actor }) {
          const guildId = requireGuildId(actor);
          await plugins.enable(guildId, input.plugin);
          const need = await plugins.setupNeed(guildId, input.plugin);
          const done = t('{plugin} is on in this server now.', { plugin: `\`${input.plugin}\`` });
          return {
            said: need === undefined ? done : `${done} ${need.problem} ${need.remedy}`,
            undo: { act: 'disable', input },
          };
        },
      }),
      disable: webAct({
        effect: 'destroys',
        question: ({ plugin: id = '' }) => disablingQuestion(id),
        input: plugin,
        access: { command: 'plugin disable' },
        audit: (input) => `plugin disable ${input.plugin}`,
        async run(input, { actor }) {
          await plugins.disable(requireGuildId(actor), input.plugin);
          return {
            said: t('{plugin} is off in this server now. Its commands and tools are gone here; its data stays.', {
              plugin: `\`${input.plugin}\``,
            }),
            undo: { act: 'enable', input },
          };
        },
      }),
    },
  });
}

function stateOf(state: PluginState, isOn: boolean, needsSetup: boolean): WebValue {
  if (state !== 'running') return { badge: stateWord(state), tone: state === 'failed' ? 'bad' : 'warning' };
  if (!isOn) return { badge: t('off'), tone: 'plain' };
  return needsSetup ? { badge: t('not set up'), tone: 'warning' } : { badge: t('on'), tone: 'good' };
}

function switchOf({ id }: PluginInfo, isOn: boolean): WebButton {
  const input = { plugin: id };
  return isOn
    ? { act: 'disable', label: t('Switch off'), tone: 'danger', input }
    : { act: 'enable', label: t('Switch on'), input };
}
