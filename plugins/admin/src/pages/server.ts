import {
  type GuildFilePlan,
  requireGuildId,
  t,
  UserError,
  type WebBlock,
  type WebResult,
  webAct,
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from '../context.js';
import { prefixesText } from '../settings-commands.js';

const MOST_CHARACTERS = 1_000_000;

/** The prefixes of a guild, and its whole configuration as one file. */
export function registerServerPages({ page, services }: AdminContext): void {
  const { guildFiles, prefixes } = services;

  page({
    name: 'prefixes',
    title: 'Prefixes',
    description: 'The prefixes of typed commands. A mention of the bot always works.',
    about: 'guild',
    group: 'server',
    access: { command: 'prefix add' },
    view: ({ actor }) => ({
      blocks: [
        {
          kind: 'table',
          columns: [{ name: t('Prefix') }],
          rows: prefixes.get(requireGuildId(actor)).map((prefix) => ({
            id: prefix,
            cells: [{ code: prefix }],
            buttons: [{ act: 'remove', label: t('Remove'), tone: 'danger', input: { prefix } }],
          })),
          empty: prefixesText([]),
        },
        {
          kind: 'form',
          act: 'add',
          title: t('Add a prefix'),
          fields: [{ name: 'prefix', label: t('Prefix'), control: { kind: 'text' } }],
          submit: t('Add it'),
        },
        {
          kind: 'buttons',
          buttons: [{ act: 'reset', label: t('Back to the default prefixes'), tone: 'danger' }],
        },
      ],
    }),
    acts: {
      add: webAct({
        effect: 'changes',
        input: z.object({ prefix: z.string().min(1) }),
        access: { command: 'prefix add' },
        audit: ({ prefix }) => `prefix add ${prefix}`,
        run: async ({ prefix }, { actor }) => ({
          said: prefixesText(await prefixes.add(requireGuildId(actor), prefix)),
          undo: { act: 'remove', input: { prefix } },
        }),
      }),
      remove: webAct({
        effect: 'destroys',
        question: ({ prefix = '' }) =>
          t('Remove the prefix {prefix}? Commands that begin with it are not heard any more.', {
            prefix: `\`${prefix}\``,
          }),
        input: z.object({ prefix: z.string() }),
        access: { command: 'prefix remove' },
        audit: ({ prefix }) => `prefix remove ${prefix}`,
        run: async ({ prefix }, { actor }) => ({
          said: prefixesText(await prefixes.remove(requireGuildId(actor), prefix)),
          undo: { act: 'add', input: { prefix } },
        }),
      }),
      reset: webAct({
        effect: 'destroys',
        question: () => t('Go back to the default prefixes?'),
        input: z.object({}),
        access: { command: 'prefix reset' },
        audit: () => 'prefix reset',
        async run(_, { actor }) {
          const former = prefixes.get(requireGuildId(actor));
          const said = prefixesText(await prefixes.reset(requireGuildId(actor)));
          return { said, undo: { act: 'restore', input: { prefixes: former } } };
        },
      }),
      restore: webAct({
        effect: 'changes',
        input: z.object({ prefixes: z.array(z.string().min(1)) }),
        access: { command: 'prefix add' },
        audit: (input) => `prefix add ${input.prefixes.join(' ')}`,
        async run(input, { actor }) {
          const guildId = requireGuildId(actor);
          for (const prefix of input.prefixes)
            if (!prefixes.get(guildId).includes(prefix)) await prefixes.add(guildId, prefix);
          return prefixesText(prefixes.get(guildId));
        },
      }),
    },
  });

  const applied = (plan: GuildFilePlan): string =>
    t('Done: {count, plural, one {# change} other {# changes}}. `server undo` takes it back.', {
      count: plan.differences.length,
    });
  const text = z.object({ text: z.string().max(MOST_CHARACTERS) });

  page({
    name: 'file',
    title: 'Server file',
    description: 'Everything that is chosen for this server as one file: see what it would change, then apply it.',
    about: 'guild',
    group: 'server',
    access: { command: 'server export' },
    async view({ actor }) {
      const present = await guildFiles.export(requireGuildId(actor));
      return {
        blocks: [
          {
            kind: 'form',
            act: 'plan',
            title: t('The file'),
            text: t(
              'Secrets are never in it. What a section does not name goes back to the default; a section that is not there is left alone.',
            ),
            fields: [{ name: 'text', label: t('File'), control: { kind: 'text', lines: 24 }, value: present }],
            submit: t('See what it would change'),
          },
          {
            kind: 'buttons',
            buttons: [
              { act: 'download', label: t('Download') },
              { act: 'undo', label: t('Take back what was applied last') },
            ],
          },
        ],
      };
    },
    acts: {
      plan: webAct({
        effect: 'shows',
        input: text,
        access: { command: 'server plan' },
        async run(input, { actor }) {
          return planResult(await guildFiles.plan(requireGuildId(actor), input.text, actor), input.text);
        },
      }),
      apply: webAct({
        effect: 'destroys',
        question: () => t('Apply the file? What its sections do not name goes back to the default.'),
        input: text,
        access: { command: 'server apply' },
        audit: () => 'server apply',
        async run(input, { actor }) {
          const plan = await guildFiles.plan(requireGuildId(actor), input.text, actor);
          await plan.apply(actor);
          return { said: applied(plan), undo: { act: 'undo', input: {} } };
        },
      }),
      undo: webAct({
        effect: 'destroys',
        question: () => t('Go back to before the file that was applied last?'),
        input: z.object({}),
        access: { command: 'server undo' },
        audit: () => 'server undo',
        async run(_, { actor }) {
          const plan = await guildFiles.planUndo(requireGuildId(actor));
          if (plan === undefined) throw new UserError(t('No file has been applied here.'));
          await plan.apply(actor);
          return applied(plan);
        },
      }),
      download: webAct({
        effect: 'shows',
        input: z.object({}),
        async run(_, { actor }) {
          const content = await guildFiles.export(requireGuildId(actor));
          return {
            said: t('This is what is chosen for this server.'),
            file: { name: 'server.yaml', contentType: 'application/yaml', content },
          };
        },
      }),
    },
  });
}

/** The changes that a file would make, and the button that applies it. */
function planResult({ differences, notes }: GuildFilePlan, text: string): WebResult {
  if (differences.length === 0) return { said: t('There is nothing to change: everything is as the file says.') };
  const said = t('{count, plural, one {# change} other {# changes}}: + is added, ~ changed, - removed', {
    count: differences.length,
  });
  const blocks: readonly WebBlock[] = [
    ...notes.map((note): WebBlock => ({ kind: 'notice', tone: 'warning', text: note })),
    {
      kind: 'table',
      columns: [{ name: '' }, { name: t('What') }, { name: t('Before') }, { name: t('After') }],
      rows: differences.map(({ kind, what, before, after }) => ({
        id: what,
        cells: [MARKS[kind], { code: what }, before, after],
      })),
      empty: '',
    },
    { kind: 'buttons', buttons: [{ act: 'apply', label: t('Apply it'), input: { text } }] },
  ];
  return { said, blocks };
}

const MARKS = { added: '+', changed: '~', removed: '-' } as const;
