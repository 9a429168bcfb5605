import {
  type AccessRule,
  CinnabarError,
  createAskFirst,
  option,
  requireGuildId,
  subcommand,
  TOOL_POLICIES,
  type ToolInfo,
  type ToolPolicy,
  type Tools,
  t,
  translated,
  UserError,
  type WebBlock,
  webAct,
  z,
} from '@cinnabar/sdk';
import { keepsServerInHand, lockWarning } from './access-commands.js';
import type { AdminContext } from './context.js';
import { code, riskWord, suggestFrom, whoMay } from './format.js';

const ADMIN = { tier: 'admin', where: 'guild' } as const;
const DEFAULT_WORD = 'default';
const POLICIES = [...TOOL_POLICIES, DEFAULT_WORD] as const;

function policyMeaning(policy: ToolPolicy | typeof DEFAULT_WORD): string {
  switch (policy) {
    case 'allow':
      return t('it runs without asking');
    case 'confirm':
      return t('it always asks for a confirmation');
    case 'deny':
      return t('nobody can use it here');
    case 'default':
      return t('whether it asks follows from the settings of `confirm`');
  }
}

/** `!tool …`: the policies for models' tools in this guild. */
export function registerToolCommands({ group, services: { tools, policies, plugins } }: AdminContext): void {
  const suggestTool = suggestFrom(() => tools.list().map(({ name }) => name));
  const switchTool = (name: 'enable' | 'disable', description: string, policy: ToolPolicy | undefined) =>
    subcommand({
      name,
      description,
      options: { tool: option.suggested(suggestTool).describe('Name of the tool') },
      examples: [`tool ${name} remove_party_character`],
      async run(ctx, { tool }) {
        const guildId = requireGuildId(ctx.actor);
        const { name: found } = known(tools, tool);
        const isOff = (await policies.get(guildId, found)) === 'deny';
        if (isOff === (policy === 'deny')) {
          return ctx.reply(
            isOff
              ? t('{name} is off here already.', { name: code(found) })
              : t('{name} is on here already.', { name: code(found) }),
          );
        }
        if (policy === undefined) await policies.clear(guildId, found);
        else await policies.set(guildId, found, policy);
        return ctx.reply(
          policy === undefined
            ? t('{name} is on here now.', { name: code(found) })
            : t('{name} is off here now.', { name: code(found) }),
        );
      },
    });

  group({
    name: 'tool',
    description: 'See and control what the AI may use',
    access: { tier: 'admin', where: 'guild' },
    commands: [
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the tools, their risk and policy here',
        help: 'With several filters: the tools that fit all of them.',
        options: {
          filters: option
            .rest()
            .optional()
            .describe('A plugin, a risk (read, write, destructive), a policy (allow, confirm, deny, default), a page'),
        },
        examples: ['tool list', 'tool list party', 'tool list destructive allow', 'tool list discord-tools 2'],
        async run(ctx, { filters = '' }) {
          const guildId = requireGuildId(ctx.actor);
          const chosen = await policies.list(guildId);
          const { page: wanted, fits } = readFilters(filters, tools);
          const shown = tools
            .list()
            .filter((tool) => plugins.enabledIn(guildId, tool.plugin) && fits(tool, chosen[tool.name] ?? DEFAULT_WORD));
          if (shown.length === 0) return ctx.reply(t('There are no such tools here.'));
          const pages = Math.ceil(shown.length / PAGE);
          const page = Math.min(wanted, pages);
          const lines = shown
            .slice((page - 1) * PAGE, page * PAGE)
            .map((tool) => `• ${toolLine(tool, chosen[tool.name])}`);
          const heading =
            pages === 1
              ? t('**Tools** ({count})', { count: shown.length })
              : t('**Tools** ({count}), page {page} of {pages}', { count: shown.length, page, pages });
          return ctx.reply([heading, ...lines].join('\n'));
        },
      }),
      switchTool('enable', 'Take back that a tool is off here', undefined),
      switchTool('disable', 'Switch a tool off here, for models and agents', 'deny'),
      subcommand({
        name: 'policy',
        description: 'Allow a tool, have it confirmed, or deny it',
        reads: ({ policy }) => policy === undefined,
        help: '`deny` is final: no member, card or other policy can allow the call.',
        options: {
          tool: option.suggested(suggestTool).describe('Name of the tool'),
          policy: z.enum(POLICIES).optional().describe('The new policy; without it, shows the present one'),
        },
        examples: ['tool policy view_party_members allow', 'tool policy remove_party_character deny'],
        async run(ctx, { tool, policy }) {
          const guildId = requireGuildId(ctx.actor);
          const { name } = known(tools, tool);
          if (policy === DEFAULT_WORD) await policies.clear(guildId, name);
          else if (policy !== undefined) await policies.set(guildId, name, policy);
          const present = (await policies.get(guildId, name)) ?? DEFAULT_WORD;
          return ctx.reply(
            t('The policy for {name} here is {policy}: {meaning}.', {
              name: code(name),
              policy: code(present),
              meaning: policyMeaning(present),
            }),
          );
        },
      }),
    ],
  });
}

/** `!command …`: disables commands for everyone here, by access rules: `!access list` shows them, and rules of higher precedence may allow them again. */
export function registerCommandSwitches({ group, component, services }: AdminContext): void {
  const { accessRules, audit, clock, commands, random } = services;
  const askFirst = createAskFirst({ component, clock, random, name: 'command-disable', access: ADMIN });
  const isSwitch = ({ effect, target, subject }: AccessRule) =>
    effect === 'deny' && target.kind === 'command' && subject.kind === 'everyone';
  const command = option.rest().describe('Full name of the command: with a command around others, all of them');

  const nameOf = (typed: string) => typed.trim().toLowerCase().split(/\s+/).join(' ');
  const assertKnown = (guildId: string, name: string) => {
    if (!commands.names(guildId).includes(name))
      throw new UserError(t('There is no command called {name}.', { name: code(name) }));
  };

  group({
    name: 'command',
    description: 'Switch single commands off and on in this server',
    access: ADMIN,
    commands: [
      subcommand({
        name: 'disable',
        description: 'Switch a command off for everyone here',
        help: 'The owner of the server can always use the commands that control the bot there.',
        options: { command },
        examples: ['command disable relay unbind'],
        async run(ctx, { command: typed }) {
          const name = nameOf(typed);
          const guildId = requireGuildId(ctx.actor);
          assertKnown(guildId, name);
          const target = { kind: 'command', name } as const;
          const disable = async () => {
            await accessRules.set(guildId, { effect: 'deny', target, subject: { kind: 'everyone' } });
            return t('{name} is off here now.', { name: code(name) });
          };
          if (!keepsServerInHand(services, target)) return ctx.reply(await disable());
          return askFirst(ctx, {
            content: lockWarning(name),
            yes: t('Switch it off all the same'),
            async run() {
              audit.record({ actor: ctx.actor, act: `command disable ${name} (agreed)`, outcome: 'done' });
              return disable();
            },
          });
        },
      }),
      subcommand({
        name: 'enable',
        description: 'Switch a command on again',
        options: { command },
        examples: ['command enable relay unbind'],
        async run(ctx, { command: typed }) {
          const name = nameOf(typed);
          const removed = await accessRules.clear(
            requireGuildId(ctx.actor),
            (rule) => isSwitch(rule) && rule.target.name === name,
          );
          if (removed.length === 0) assertKnown(requireGuildId(ctx.actor), name);
          return ctx.reply(
            removed.length === 0
              ? t('{name} is on here already.', { name: code(name) })
              : t('{name} is on here now.', { name: code(name) }),
          );
        },
      }),
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the commands that are off here',
        async run(ctx) {
          const off = (await accessRules.list(requireGuildId(ctx.actor)))
            .filter(isSwitch)
            .map(({ target }) => target.name);
          return ctx.reply(
            off.length === 0
              ? t('No command is off here.')
              : t('Off here: {commands}', { commands: off.map(code).join(', ') }),
          );
        },
      }),
    ],
  });
}

const PAGE = 15;
const RISKS: readonly ToolInfo['risk'][] = ['read', 'write', 'destructive'];

/** Parses filters such as `party destructive deny 2`, in any order. @throws UserError with the word that is not a filter */
function readFilters(text: string, tools: Tools) {
  const plugins = new Set(tools.list().map(({ plugin }) => plugin));
  let page = 1;
  const checks: ((tool: ToolInfo, policy: ToolPolicy | typeof DEFAULT_WORD) => boolean)[] = [];
  for (const word of text.toLowerCase().split(/[\s,]+/)) {
    if (word === '') continue;
    if (/^[1-9]\d{0,3}$/.test(word)) page = Number(word);
    else if (plugins.has(word)) checks.push(({ plugin }) => plugin === word);
    else if (RISKS.some((risk) => risk === word)) checks.push(({ risk }) => risk === word);
    else if (POLICIES.some((policy) => policy === word)) checks.push((_tool, policy) => policy === word);
    else
      throw new UserError(
        t('{word} is neither a plugin with tools, nor a risk ({risks}), nor a policy ({policies}).', {
          word: code(word),
          risks: RISKS.join(', '),
          policies: POLICIES.join(', '),
        }),
      );
  }
  return {
    page,
    fits: (tool: ToolInfo, policy: ToolPolicy | typeof DEFAULT_WORD) => checks.every((check) => check(tool, policy)),
  };
}

function toolLine({ name, plugin, risk, description }: ToolInfo, policy: ToolPolicy | undefined): string {
  return t('{name} ({plugin}, {risk}, policy {policy}): {description}', {
    name: code(name),
    plugin,
    risk,
    policy: policy ?? DEFAULT_WORD,
    description: translated(description),
  });
}

function known(tools: Tools, name: string): ToolInfo {
  const tool = tools.list().find((candidate) => candidate.name === name.toLowerCase());
  if (tool === undefined) throw new CinnabarError('CINNABAR_TOOL_UNKNOWN', { tool: name });
  return tool;
}

/** The page about the policies of models' and agents' tools in a guild. */
export function registerToolsPage({ page, services }: AdminContext): void {
  const { tools, policies, plugins } = services;

  page({
    name: 'tools',
    title: 'Tools',
    description: 'The tools that models and agents may use in this server, and those that wait for a 👍.',
    about: 'guild',
    group: 'server',
    access: { command: 'tool list' },
    async view({ actor, query }) {
      const guildId = requireGuildId(actor);
      const chosen = await policies.list(guildId);
      const here = tools.list().filter((tool) => plugins.enabledIn(guildId, tool.plugin));
      const owners = [...new Set(here.map((tool) => tool.plugin))].sort();
      const wanted = owners.includes(query.plugin ?? '') ? query.plugin : undefined;
      const sections = owners
        .filter((owner) => wanted === undefined || owner === wanted)
        .map((owner): WebBlock => {
          const own = here.filter((tool) => tool.plugin === owner);
          const set = own.filter(({ name }) => chosen[name] !== undefined).length;
          const title =
            set === 0
              ? t('{plugin}: {count, plural, one {# tool} other {# tools}}', { plugin: owner, count: own.length })
              : t('{plugin}: {count, plural, one {# tool} other {# tools}}, {set} chosen', {
                  plugin: owner,
                  count: own.length,
                  set,
                });
          return {
            kind: 'section',
            title,
            closed: wanted === undefined,
            blocks: own.map((tool) => formFor(tool, chosen[tool.name] ?? DEFAULT_WORD)),
          };
        });
      return { blocks: sections.length > 0 ? sections : [{ kind: 'text', text: t('There are no such tools here.') }] };
    },
    acts: {
      policy: webAct({
        effect: 'changes',
        input: z.object({ tool: z.string(), policy: z.enum(POLICIES) }),
        access: { command: 'tool policy' },
        audit: ({ tool, policy }) => `tool policy ${tool} ${policy}`,
        async run({ tool, policy }, { actor }) {
          const guildId = requireGuildId(actor);
          const name = `\`${tool}\``;
          if (!tools.list().some((one) => one.name === tool))
            throw new UserError(t('There is no tool called {name}.', { name }));
          const former = (await policies.list(guildId))[tool] ?? DEFAULT_WORD;
          if (policy === DEFAULT_WORD) await policies.clear(guildId, tool);
          else await policies.set(guildId, tool, policy);
          const said = t('The policy for {name} here is {policy}: {meaning}.', {
            name,
            policy: `\`${policy}\``,
            meaning: policyMeaning(policy),
          });
          return { said, undo: { act: 'policy', input: { tool, policy: former } } };
        },
      }),
    },
  });
}

function formFor({ name, description, risk, access }: ToolInfo, policy: (typeof POLICIES)[number]): WebBlock {
  return {
    kind: 'form',
    act: 'policy',
    compact: true,
    input: { tool: name },
    fields: [
      {
        name: 'policy',
        label: name,
        hint: `${riskWord(risk)} · ${whoMay(access)} · ${translated(description)}`,
        control: {
          kind: 'choice',
          of: ([DEFAULT_WORD, ...TOOL_POLICIES] as const).map((value) => ({
            value,
            text: `${value}: ${policyMeaning(value)}`,
          })),
        },
        value: policy,
      },
    ],
    submit: t('Save'),
  };
}
