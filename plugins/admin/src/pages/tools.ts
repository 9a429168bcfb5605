import { TOOL_POLICIES, type ToolInfo, t, translated, UserError, type WebBlock, webAct, z } from '@cinnabar/sdk';
import type { AdminContext } from '../context.js';
import { guildOf, riskWord, whoMay } from '../format.js';
import { policyMeaning } from '../tool-commands.js';

const DEFAULT_WORD = 'default';
const POLICIES = [DEFAULT_WORD, ...TOOL_POLICIES] as const;

/** What models and agents may do in a guild, tool by tool. */
export function registerToolsPage({ page, services }: AdminContext): void {
  const { tools, policies, plugins } = services;

  page({
    name: 'tools',
    title: 'Tools',
    description: 'What models and agents may use in this server, and what waits for a 👍.',
    about: 'guild',
    group: 'server',
    access: { command: 'tool list' },
    async view({ actor, query }) {
      const guildId = guildOf(actor);
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
        input: z.object({ tool: z.string(), policy: z.enum(POLICIES) }),
        access: { command: 'tool policy' },
        audit: ({ tool, policy }) => `tool policy ${tool} ${policy}`,
        async run({ tool, policy }, { actor }) {
          const guildId = guildOf(actor);
          const name = `\`${tool}\``;
          if (!tools.list().some((one) => one.name === tool))
            throw new UserError(t('There is no tool called {name}.', { name }));
          if (policy === DEFAULT_WORD) await policies.clear(guildId, tool);
          else await policies.set(guildId, tool, policy);
          return t('The policy for {name} here is {policy}: {meaning}.', {
            name,
            policy: `\`${policy}\``,
            meaning: policyMeaning(policy),
          });
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
          of: POLICIES.map((value) => ({ value, text: `${value}: ${policyMeaning(value)}` })),
        },
        value: policy,
      },
    ],
    submit: t('Save'),
  };
}
