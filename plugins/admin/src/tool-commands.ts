import {
  CinnabarError,
  option,
  subcommand,
  TOOL_POLICIES,
  type ToolInfo,
  type ToolPolicy,
  type Tools,
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
  const suggestTool = suggestFrom(() => tools.list().map(({ name }) => name));
  group({
    name: 'tool',
    description: 'See and control what the AI may use',
    access: { tier: 'admin', where: 'guild' },
    commands: [
      subcommand({
        name: 'list',
        description: 'List the tools, their risk and policy here',
        async run(ctx) {
          const guildId = guildOf(ctx.actor);
          const chosen = await policies.list(guildId);
          const enabled = tools.list().filter(({ plugin }) => plugins.enabledIn(guildId, plugin));
          const lines = enabled.map((tool) => `• ${toolLine(tool, chosen[tool.name])}`);
          return ctx.reply([`**Tools** (${lines.length})`, ...lines].join('\n'));
        },
      }),
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

function toolLine({ name, plugin, risk, description }: ToolInfo, policy: ToolPolicy | undefined): string {
  return `${code(name)} (${plugin}, ${risk}, policy ${policy ?? DEFAULT_WORD}): ${description}`;
}

function known(tools: Tools, name: string): ToolInfo {
  const tool = tools.list().find((candidate) => candidate.name === name.toLowerCase());
  if (tool === undefined) throw new CinnabarError('CINNABAR_TOOL_UNKNOWN', { tool: name });
  return tool;
}
