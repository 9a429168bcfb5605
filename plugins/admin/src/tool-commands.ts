import {
  type AccessRule,
  CinnabarError,
  option,
  subcommand,
  TOOL_POLICIES,
  type ToolInfo,
  type ToolPolicy,
  type Tools,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from './context.js';
import { code, guildOf, suggestFrom } from './format.js';

const DEFAULT_WORD = 'default';

const MEANING: Readonly<Record<ToolPolicy | 'default', string>> = {
  allow: 'it runs without asking',
  confirm: 'it always asks for a confirmation',
  deny: 'nobody can use it here',
  default: 'whether it asks follows from the settings of `confirm`',
};

/** `!tool …`: what models may do in this guild. */
export function registerToolCommands({ group, services: { tools, policies, plugins } }: AdminContext): void {
  const suggestPlugin = suggestFrom(() => [...new Set(tools.list().map(({ plugin }) => plugin))]);
  const suggestTool = suggestFrom(() => tools.list().map(({ name }) => name));
  const switchTool = (name: 'enable' | 'disable', description: string, policy: ToolPolicy | undefined) =>
    subcommand({
      name,
      description,
      options: { tool: option.suggested(suggestTool).describe('Name of the tool') },
      examples: [`tool ${name} remove_party_character`],
      async run(ctx, { tool }) {
        const guildId = guildOf(ctx.actor);
        const { name: found } = known(tools, tool);
        const isOff = (await policies.get(guildId, found)) === 'deny';
        if (isOff === (policy === 'deny')) return ctx.reply(`${code(found)} is ${isOff ? 'off' : 'on'} here already.`);
        if (policy === undefined) await policies.clear(guildId, found);
        else await policies.set(guildId, found, policy);
        return ctx.reply(`${code(found)} is ${policy === undefined ? 'on' : 'off'} here now.`);
      },
    });

  group({
    name: 'tool',
    description: 'See and control what the AI may use',
    access: { tier: 'admin', where: 'guild' },
    commands: [
      subcommand({
        name: 'list',
        description: 'List the tools, their risk and policy here',
        options: { plugin: option.suggested(suggestPlugin).optional().describe('Only the tools of this plugin') },
        examples: ['tool list', 'tool list party'],
        async run(ctx, { plugin: only }) {
          const guildId = guildOf(ctx.actor);
          const chosen = await policies.list(guildId);
          const enabled = tools
            .list()
            .filter(
              ({ plugin }) =>
                plugins.enabledIn(guildId, plugin) && (only === undefined || plugin === only.toLowerCase()),
            );
          if (enabled.length === 0)
            return ctx.reply(
              only === undefined ? 'There are no tools here.' : `No plugin ${code(only)} has tools here.`,
            );
          const lines = enabled.map((tool) => `• ${toolLine(tool, chosen[tool.name])}`);
          return ctx.reply([`**Tools** (${lines.length})`, ...lines].join('\n'));
        },
      }),
      switchTool('enable', 'Take back that a tool is off here', undefined),
      switchTool('disable', 'Switch a tool off here, for models and agents', 'deny'),
      subcommand({
        name: 'policy',
        description: 'Allow a tool, have it confirmed, or deny it',
        help: '`deny` is final: no member, card or other policy can bring the call back.',
        options: {
          tool: option.suggested(suggestTool).describe('Name of the tool'),
          policy: z
            .enum([...TOOL_POLICIES, DEFAULT_WORD])
            .optional()
            .describe('The new policy; without it, shows the present one'),
        },
        examples: ['tool policy view_party_members allow', 'tool policy remove_party_character deny'],
        async run(ctx, { tool, policy }) {
          const guildId = guildOf(ctx.actor);
          const { name } = known(tools, tool);
          if (policy === DEFAULT_WORD) await policies.clear(guildId, name);
          else if (policy !== undefined) await policies.set(guildId, name, policy);
          const present = (await policies.get(guildId, name)) ?? DEFAULT_WORD;
          return ctx.reply(`The policy for ${code(name)} here is ${code(present)}: ${MEANING[present]}.`);
        },
      }),
    ],
  });
}

/** `!command …`: commands that are off for everyone here. They are access rules: `!access list` shows them, and rules of higher precedence admit some again. */
export function registerCommandSwitches({ group, services: { accessRules, commands } }: AdminContext): void {
  const isSwitch = ({ effect, target, subject }: AccessRule) =>
    effect === 'deny' && target.kind === 'command' && subject.kind === 'everyone';
  const command = option.rest().describe('Full name of the command: with a command around others, all of them');

  const nameOf = (typed: string) => typed.trim().toLowerCase().split(/\s+/).join(' ');
  const assertKnown = (name: string) => {
    if (!commands.names().includes(name)) throw new UserError(`There is no command called ${code(name)}.`);
  };

  group({
    name: 'command',
    description: 'Switch single commands off and on in this server',
    access: { tier: 'admin', where: 'guild' },
    commands: [
      subcommand({
        name: 'disable',
        description: 'Switch a command off for everyone here',
        help: 'The owner of the server can always use the commands that keep it in hand.',
        options: { command },
        examples: ['command disable relay unbind'],
        async run(ctx, { command: typed }) {
          const name = nameOf(typed);
          assertKnown(name);
          await accessRules.set(guildOf(ctx.actor), {
            effect: 'deny',
            target: { kind: 'command', name },
            subject: { kind: 'everyone' },
          });
          return ctx.reply(`${code(name)} is off here now.`);
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
            guildOf(ctx.actor),
            (rule) => isSwitch(rule) && rule.target.name === name,
          );
          if (removed.length === 0) assertKnown(name);
          return ctx.reply(`${code(name)} is on here ${removed.length === 0 ? 'already' : 'now'}.`);
        },
      }),
      subcommand({
        name: 'list',
        description: 'List the commands that are off here',
        async run(ctx) {
          const off = (await accessRules.list(guildOf(ctx.actor))).filter(isSwitch).map(({ target }) => target.name);
          return ctx.reply(off.length === 0 ? 'No command is off here.' : `Off here: ${off.map(code).join(', ')}`);
        },
      }),
    ],
  });
}

function toolLine({ name, plugin, risk, description }: ToolInfo, policy: ToolPolicy | undefined): string {
  return `${code(name)} (${plugin}, ${risk}, policy ${policy ?? DEFAULT_WORD}): ${description}`;
}

function known(tools: Tools, name: string): ToolInfo {
  const tool = tools.list().find((candidate) => candidate.name === name.toLowerCase());
  if (tool === undefined) throw new CinnabarError('CINNABAR_TOOL_UNKNOWN', { tool: name });
  return tool;
}
