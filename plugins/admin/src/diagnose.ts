import {
  type CommandContext,
  type DecisionReason,
  oneLine,
  option,
  type PluginInfo,
  permissionName,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { findTarget } from './access-commands.js';
import type { AdminContext } from './context.js';
import { code, stateWord } from './format.js';
import { missingIn } from './plugin-commands.js';

/** One thing that was looked at. */
interface Finding {
  readonly ok: boolean;
  readonly text: string;
  /** What takes the obstacle away; for findings that are one. */
  readonly remedy: string;
}

/** `!diagnose`: walks everything that something needs to work for a member here, and names the first obstacle. */
export function registerDiagnose(context: AdminContext): void {
  const { command, services } = context;
  command({
    name: 'diagnose',
    description: 'Find out why a command, tool or plugin does not work for a member',
    help: 'Everyone can ask for themselves, admins for every member. Costs and budgets are not looked at: `cost` shows them.',
    ephemeral: true,
    options: {
      who: z.string().describe('me, or a member'),
      what: option.rest().describe('Command, tool or plugin'),
    },
    examples: ['diagnose me party', 'diagnose @alice add_party_character'],
    async run(ctx, { who, what }) {
      const userId = userOf(ctx, who);
      if (userId !== ctx.actor.userId) await ctx.requireAccess({ tier: 'admin', where: 'guild' });
      const target = await findTarget(services, ctx, what);
      const findings = await examine(context, ctx, { ...ctx.actor, userId }, target);
      const obstacle = findings.find(({ ok }) => !ok);
      await ctx.reply(
        [
          t(
            '**{kind, select, command {command} tool {tool} plugin {plugin} other {everything}} {name} for {member}**',
            {
              kind: target.kind,
              name: code(target.name),
              member: `<@${userId}>`,
            },
          ),
          ...findings.map(({ ok, text }) => `${ok ? '✓' : '✗'} ${oneLine(text)}`),
          obstacle === undefined
            ? t('Nothing stands in the way here.')
            : t('**First obstacle**: {obstacle}. **Remedy**: {remedy}', {
                obstacle: oneLine(obstacle.text),
                remedy: obstacle.remedy,
              }),
        ].join('\n'),
      );
    },
  });
}

/** @throws UserError when `who` is neither `me` nor a mention or id of a user */
function userOf({ actor }: CommandContext, who: string): string {
  if (who.toLowerCase() === 'me') return actor.userId;
  const [, id] = /^(?:<@!?)?(\d{15,22})>?$/.exec(who.trim()) ?? [];
  if (id === undefined) throw new UserError(t('Please name a member by mention or id, or write `me`.'));
  return id;
}

type Target = Awaited<ReturnType<typeof findTarget>>;

async function examine(
  context: AdminContext,
  ctx: CommandContext,
  actor: CommandContext['actor'],
  target: Target,
): Promise<readonly Finding[]> {
  const { commands, plugins, tools } = context.services;
  const { kind, name } = target;
  const explained = kind === 'command' ? await commands.explain(actor, name) : [];
  const ofTool = tools.list().find((tool) => tool.name === name)?.plugin;
  const id = kind === 'plugin' ? name : (explained[0]?.command.plugin ?? ofTool);
  const plugin = plugins.list().find((one) => one.id === id);
  if (plugin === undefined) throw new UserError(t('{name} belongs to no plugin that is loaded.', { name: code(name) }));

  const decisions = explained.map(({ command, decision }) => ({ name: command.name, decision }));
  const decided = kind === 'tool' ? await tools.explain(actor, name) : undefined;
  if (decided !== undefined) decisions.push({ name, decision: decided });
  const findings = [...(await examinePlugin(context, ctx, plugin))];
  for (const { name: full, decision } of decisions) {
    const label = decisions.length > 1 ? `${code(full)}: ` : '';
    // Whether the plugin is switched on was looked at before.
    for (const reason of decision.reasons.filter(({ rule }) => rule !== 'plugin-enabled')) {
      findings.push({ ok: reason.allowed, text: `${label}${reason.text}`, remedy: remedyOf(reason, full) });
    }
  }
  return findings;
}

/** What a plugin needs before anything of it can work in the place of the command. */
async function examinePlugin(
  { services: { access, plugins }, client }: AdminContext,
  ctx: CommandContext,
  { id, manifest, state, problem }: PluginInfo,
): Promise<readonly Finding[]> {
  const { guildId } = ctx.actor;
  const isOwner = (await access.tierOf(ctx.actor)) === 'botOwner';
  const isOn = plugins.enabledIn(guildId, id);
  const intents = (manifest.intents ?? []).filter((intent) => !client.options.intents.has(intent));
  const missing = missingIn(ctx, manifest.permissions);
  const need = state === 'running' && isOn ? await plugins.setupNeed(guildId, id) : undefined;
  return [
    {
      ok: state === 'running',
      text:
        isOwner && problem !== undefined
          ? t('the plugin "{plugin}" is {state}: {problem}', { plugin: id, state: stateWord(state), problem })
          : t('the plugin "{plugin}" is {state}', { plugin: id, state: stateWord(state) }),
      remedy: t('The bot’s owner can look at `plugin info {plugin}` and load it again with `plugin reload {plugin}`.', {
        plugin: id,
      }),
    },
    {
      ok: isOn,
      text: isOn
        ? t('the plugin "{plugin}" is switched on here', { plugin: id })
        : t('the plugin "{plugin}" is switched off here', { plugin: id }),
      remedy: t('An admin switches it on with `plugin enable {plugin}`.', { plugin: id }),
    },
    {
      ok: intents.length === 0,
      text:
        intents.length === 0
          ? t('Discord sends me the events that it needs')
          : t('Discord does not send me {intents}', { intents: intents.join(', ') }),
      remedy: t('The bot’s owner switches these intents on in Discord’s developer portal and restarts the bot.'),
    },
    {
      ok: missing.length === 0,
      text:
        missing.length === 0
          ? t('I have the permissions that it needs in this server')
          : t('I lack {permissions} in this server', { permissions: missing.map(permissionName).join(', ') }),
      remedy: t('Give one of my roles these permissions.'),
    },
    ...(need === undefined ? [] : [{ ok: false, text: need.problem.replace(/\.$/, ''), remedy: need.remedy }]),
  ];
}

const REMEDIES: Readonly<Record<string, (name: string) => string>> = {
  place: () => t('Use it there.'),
  actor: () => t('They have to be in this server and see this channel.'),
  tier: (name) =>
    t(
      'An admin lets them with `access allow "{name}" <member or role>`, or with `roles mod add` and `roles admin add`.',
      { name },
    ),
  ignored: () =>
    t(
      'An admin takes it back with `block remove`, `ignore remove` or `allowlist add`; rules for all servers are the bot’s owner’s.',
    ),
  'access-rule': (name) =>
    t('An admin looks at `access list` and takes the rule back: `access clear "{name}"`.', { name }),
  'member-permissions': () => t('Give one of their roles that permission in this channel.'),
  'bot-permissions': () => t('Give one of my roles that permission in this channel.'),
  'tool-policy': (name) => t('An admin switches it on with `tool enable {name}`.', { name }),
};

const remedyOf = ({ rule }: DecisionReason, name: string) => REMEDIES[rule]?.(name) ?? t('The bot’s log says more.');
