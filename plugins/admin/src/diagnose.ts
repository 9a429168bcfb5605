import {
  type Actor,
  type CheckResult,
  type CommandContext,
  type DecisionReason,
  type DoctorFinding,
  membersCalled,
  needFindings,
  oneLine,
  option,
  type PluginInfo,
  permissionName,
  plainText,
  replyPrivately,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { type PermissionsString, TimestampStyles, time } from 'discord.js';
import { findTarget } from './access-commands.js';
import type { AdminContext } from './context.js';
import { code } from './format.js';
import { missingIn } from './plugin-commands.js';

/** The result of one check. A note does not prevent the feature from working. */
interface Finding {
  readonly state: 'fine' | 'note' | 'obstacle';
  readonly text: string;
  /** How to fix it; for notes and obstacles. */
  readonly remedy: string;
}

type Target = Awaited<ReturnType<typeof findTarget>>;

const SIGNS = { fine: '✓', note: '⚠', obstacle: '✗' } as const;

/** `!diagnose`: checks all conditions of a feature for a member here, and names the first obstacle. */
export function registerDiagnose(context: AdminContext): void {
  const { command, services } = context;
  command({
    name: 'diagnose',
    reads: true,
    description: 'Find out why a command, tool or plugin does not work for a member',
    help: 'Everyone can ask for themselves, admins for every member. It is looked at for this channel, as it is now.',
    ephemeral: true,
    // A check may send a request to a model provider.
    cooldown: { uses: 10, perMs: 30_000 },
    options: {
      who: z.string().describe('me, or a member'),
      what: option.rest().describe('Command, tool or plugin'),
    },
    examples: ['diagnose me party', 'diagnose @alice add_party_character'],
    async run(ctx, { who, what }) {
      const userId = await userOf(ctx, who);
      if (userId !== ctx.actor.userId) await ctx.requireAccess({ tier: 'admin', where: 'guild' });
      const target = await findTarget(services, ctx, what);
      const findings = await examine(context, ctx, { ...ctx.actor, userId }, target);
      const title = heading(target, userId);
      const inWhoseWords =
        userId === ctx.actor.userId ? title : t('{title}, in the words that they would read', { title });
      await ctx.reply([inWhoseWords, ...findings.map(lineOf), conclusion(findings)].join('\n'));
    },
  });
}

/** @throws UserError when `who` is neither `me` nor one member, by mention, id or name */
async function userOf({ actor, guild }: CommandContext, who: string): Promise<string> {
  if (who.toLowerCase() === 'me') return actor.userId;
  const [, id] = /^(?:<@!?)?(\d{15,22})>?$/.exec(who.trim()) ?? [];
  if (id !== undefined) return id;
  const [member, another] = guild === null ? [] : await membersCalled(guild, who.trim());
  if (another !== undefined)
    throw new UserError(t('More than one member is called {name}. Use a mention or an id.', { name: code(who) }));
  if (member !== undefined) return member.id;
  throw new UserError(
    t('There is no member called {name} here. Name one by mention, id or name, or write `me`.', { name: code(who) }),
  );
}

function heading({ kind, name }: Target, userId: string): string {
  const values = { name: code(name), member: `<@${userId}>` };
  const headings: Readonly<Record<Target['kind'], () => string>> = {
    command: () => t('**command {name} for {member}**', values),
    tool: () => t('**tool {name} for {member}**', values),
    plugin: () => t('**plugin {name} for {member}**', values),
    everything: () => t('**{name} for {member}**', values),
  };
  return headings[kind]();
}

const lineOf = ({ state, text, remedy }: Finding) =>
  `${SIGNS[state]} ${oneLine(text)}${state === 'note' ? ` (${oneLine(remedy)})` : ''}`;

function conclusion(findings: readonly Finding[]): string {
  const [first, ...others] = findings
    .filter(({ state }) => state === 'obstacle')
    .map(({ text, remedy }) => ({ obstacle: oneLine(text), remedy }));
  if (first === undefined) return t('Nothing stands in the way here.');
  return [
    t('**First obstacle**: {obstacle}. **Remedy**: {remedy}', first),
    // Shows all remedies: with one at a time, each would seem to have no effect.
    ...others.map((one) => t('**Also in the way**: {obstacle}. **Remedy**: {remedy}', one)),
  ].join('\n');
}

async function examine(
  context: AdminContext,
  ctx: CommandContext,
  actor: Actor,
  target: Target,
): Promise<readonly Finding[]> {
  const { kind, name } = target;
  if (kind === 'everything') throw new UserError(t('Please name a command, a tool or a plugin.'));
  if (kind === 'plugin') return examinePlugin(context, ctx, actor, pluginOf(context, name));
  if (kind === 'command') return examineCommand(context, ctx, actor, name);
  const { findings: own, notOffered } = await examineTool(context, ctx, actor, name);
  // Members use tools through the AI, so its conditions are checked, too. External agents need none of them.
  const asked = await examineAi(context, ctx, actor);
  const offer = notOffered === undefined ? [] : [ofReason(notOffered)];
  return [
    ...own,
    ...[...asked, ...offer].map((finding) => ({
      ...finding,
      text: t('to ask the AI for it: {finding}', { finding: finding.text }),
    })),
  ];
}

async function examineAi(context: AdminContext, ctx: CommandContext, actor: Actor): Promise<readonly Finding[]> {
  const ai = context.services.plugins.list().find(({ id }) => id === 'ai');
  if (ai === undefined) return [];
  // A stopped plugin has no commands that could be checked.
  return ai.state === 'running'
    ? examineCommand(context, ctx, actor, 'ai')
    : examineState(context, ctx, ai, await isOwner(context, ctx));
}

/** @throws UserError for an unknown one */
function pluginOf({ services: { plugins } }: AdminContext, id: string | undefined): PluginInfo {
  const plugin = plugins.list().find((one) => one.id === id);
  if (plugin === undefined) throw new UserError(t('It belongs to no plugin that is loaded.'));
  return plugin;
}

async function examinePlugin(
  context: AdminContext,
  ctx: CommandContext,
  actor: Actor,
  plugin: PluginInfo,
): Promise<readonly Finding[]> {
  const { plugins } = context.services;
  const works = examineState(context, ctx, plugin, await isOwner(context, ctx));
  if (works.some(({ state }) => state === 'obstacle')) return works;
  const about = { actor, kind: 'plugin', name: plugin.id } as const;
  return [
    ...works,
    ...examineNeeds(context, ctx, plugin, 'obstacle'),
    ...needFindings(await plugins.setupNeed(actor.guildId, plugin.id)).map(asFinding),
    ...(await plugins.diagnose(plugin.id, about)).map(asFinding),
  ];
}

async function examineCommand(
  context: AdminContext,
  ctx: CommandContext,
  actor: Actor,
  name: string,
): Promise<readonly Finding[]> {
  const { commands, plugins } = context.services;
  const explained = await commands.explain(actor, name);
  const plugin = pluginOf(context, explained[0]?.command.plugin);
  const findings = [...examineState(context, ctx, plugin, await isOwner(context, ctx))];
  findings.push(...examineNeeds(context, ctx, plugin, 'note'));
  if (explained.some(({ command }) => command.surface !== 'slash')) findings.push(...examineTyping(context, ctx));
  findings.push(...(await examineMember(context, ctx, actor)));
  const [only, ...others] = await Promise.all(
    explained.map(async ({ command, decision, cooldown }) => {
      const reasons = cooldown === undefined ? decision.reasons : [...decision.reasons, cooldown];
      const own = await plugins.diagnose(plugin.id, { actor, kind: 'command', name: command.name });
      return { name: command.name, findings: [...reasons.filter(isNews).map(ofReason), ...own.map(asFinding)] };
    }),
  );
  if (only === undefined || others.length === 0) return [...findings, ...(only?.findings ?? [])];
  return [...findings, ...ofGroup([only, ...others])];
}

/** For a group: when one of its commands works, obstacles of the others do not count. */
function ofGroup(
  commands: readonly { readonly name: string; readonly findings: readonly Finding[] }[],
): readonly Finding[] {
  const isFree = ({ findings }: { readonly findings: readonly Finding[] }) =>
    findings.every(({ state }) => state !== 'obstacle');
  const works = commands.some(isFree);
  return commands.flatMap(({ name, findings }) =>
    findings.map(({ state, text, remedy }) => ({
      state: works && state === 'obstacle' ? 'note' : state,
      text: `${code(name)}: ${text}`,
      remedy,
    })),
  );
}

async function examineTool(context: AdminContext, ctx: CommandContext, actor: Actor, name: string) {
  const { plugins, tools } = context.services;
  const plugin = pluginOf(context, tools.list().find((tool) => tool.name === name)?.plugin);
  const { reasons = [], notOffered } = (await tools.explain(actor, name)) ?? {};
  const findings: readonly Finding[] = [
    ...examineState(context, ctx, plugin, await isOwner(context, ctx)),
    ...examineNeeds(context, ctx, plugin, 'note'),
    ...reasons.filter(isNews).map(ofReason),
    ...(await plugins.diagnose(plugin.id, { actor, kind: 'tool', name })).map(asFinding),
  ];
  return { findings, notOffered };
}

/** Leaves out whether the plugin is enabled, which is checked before the decision. */
const isNews = ({ rule }: DecisionReason) => rule !== 'plugin-enabled';

const ofReason = ({ allowed, text, remedy }: DecisionReason): Finding => asFinding({ ok: allowed, text, remedy });

function asFinding({ ok, text, remedy }: CheckResult): Finding {
  return { state: ok ? 'fine' : 'obstacle', text, remedy: remedy ?? t('The log of the bot says more.') };
}

const isOwner = async ({ services: { access } }: AdminContext, ctx: CommandContext) =>
  (await access.tierOf(ctx.actor)) === 'botOwner';

/** Whether the plugin runs, and is enabled in the place of the command. */
function examineState(
  { services: { plugins } }: AdminContext,
  { actor: { guildId } }: CommandContext,
  { id, state, problem }: PluginInfo,
  seesProblem: boolean,
): readonly Finding[] {
  const isOn = plugins.enabledIn(guildId, id);
  const values = { plugin: id, state };
  return [
    {
      state: state === 'running' ? 'fine' : 'obstacle',
      text:
        seesProblem && problem !== undefined
          ? t(
              'the plugin "{plugin}" {state, select, running {is running} stopped {is stopped} failed {has failed} other {is waiting}}: {problem}',
              { ...values, problem: problem.replace(/\.$/, '') },
            )
          : t(
              'the plugin "{plugin}" {state, select, running {is running} stopped {is stopped} failed {has failed} other {is waiting}}',
              values,
            ),
      remedy:
        state === 'waiting'
          ? t('The owner of the bot loads what it waits for: `plugin info {plugin}` says what.', values)
          : t('The owner of the bot loads it with `plugin load {plugin}`.', values),
    },
    {
      state: isOn ? 'fine' : 'obstacle',
      text: isOn
        ? t('the plugin "{plugin}" is switched on here', values)
        : t('the plugin "{plugin}" is switched off here', values),
      remedy:
        guildId === null
          ? t('The owner of the bot switches it on with `plugin default {plugin} on`.', values)
          : t('An admin switches it on with `plugin enable {plugin}`.', values),
    },
  ];
}

/** Intents and permissions that the plugin declares. Each command checks its own permissions. */
function examineNeeds(
  { client }: AdminContext,
  ctx: CommandContext,
  { manifest }: PluginInfo,
  state: 'obstacle' | 'note',
): readonly Finding[] {
  const intents = (manifest.intents ?? []).filter((intent) => !client.options.intents.has(intent));
  const missing = missingIn(ctx, manifest.permissions);
  return [
    intents.length === 0
      ? { state: 'fine', text: t('Discord sends me the events that it needs'), remedy: '' }
      : {
          state,
          text: t('Discord does not send me {intents}', { intents: intents.join(', ') }),
          remedy: t(
            'The owner of the bot switches these intents on in Discord’s developer portal, and then uses `bot restart`.',
          ),
        },
    missing.length === 0
      ? { state: 'fine', text: t('I have the permissions that it needs in this server'), remedy: '' }
      : {
          state,
          text: t('I lack {permissions} in this server', { permissions: namesOf(missing) }),
          remedy: t('Give one of my roles {permissions}.', { permissions: namesOf(missing) }),
        },
  ];
}

const namesOf = (permissions: readonly string[]) => permissions.map(permissionName).join(', ');

/** The additional conditions of a typed command: the bot can read the message, and answer in the channel. */
function examineTyping({ client }: AdminContext, { channel, guild }: CommandContext): readonly Finding[] {
  const me = guild?.members.me;
  if (me == null || channel.isDMBased()) return [];
  const needed: readonly PermissionsString[] = [
    'ViewChannel',
    channel.isThread() ? 'SendMessagesInThreads' : 'SendMessages',
  ];
  const missing = channel.permissionsFor(me).missing([...needed], true);
  return [
    ...(client.options.intents.has('MessageContent')
      ? []
      : [
          {
            state: 'obstacle',
            text: t('Discord does not send me what is written, so typed commands are not seen'),
            remedy: t(
              'Use the slash command, or begin with a mention of me; the owner of the bot switches Message Content on in Discord’s developer portal.',
            ),
          } as const,
        ]),
    missing.length === 0
      ? { state: 'fine', text: t('I can write in this channel'), remedy: '' }
      : {
          state: 'obstacle',
          text: t('I lack {permissions} in this channel, so a typed command gets no answer', {
            permissions: namesOf(missing),
          }),
          remedy: t('Give one of my roles {permissions} in this channel, or use the slash command.', {
            permissions: namesOf(missing),
          }),
        },
  ];
}

/** Whether the member can use commands in this channel. */
async function examineMember(
  { services: { access, clock } }: AdminContext,
  { channel, guild, actor: { userId: askedBy } }: CommandContext,
  actor: Actor,
): Promise<readonly Finding[]> {
  // The requester has just used a command, so they can.
  if (guild === null || actor.userId === askedBy) return [];
  const member = await guild.members.fetch(actor.userId).catch(() => undefined);
  const until = member?.communicationDisabledUntil;
  if (until != null && until.getTime() > clock.now())
    return [
      {
        state: 'obstacle',
        text: t('you are in a time-out until {until}', { until: time(until, TimestampStyles.ShortDateTime) }),
        remedy: t('Wait, or have a moderator end it.'),
      },
    ];
  const may = (permission: PermissionsString) =>
    access.mayEnter(actor, { guildId: guild.id, channelId: channel.id }, [permission]);
  if (
    (await may(channel.isThread() ? 'SendMessagesInThreads' : 'SendMessages')) ||
    (await may('UseApplicationCommands'))
  )
    return [{ state: 'fine', text: t('you can use commands in this channel'), remedy: '' }];
  return [
    {
      state: 'obstacle',
      text: t('you can neither write nor use slash commands in this channel'),
      remedy: t('Give one of their roles View Channel and Send Messages in this channel.'),
    },
  ];
}

/** `!doctor`: whether everything that the bot needs is available. */
export function registerDoctor({ command, services }: AdminContext): void {
  command({
    name: 'doctor',
    reads: true,
    description: 'Check token, intents, permissions, keys, servers, data and clock, each with its remedy',
    help: 'The same as `cinnabar doctor` on the machine of the bot, in all processes of a cluster. The answer comes as a direct message.',
    access: { tier: 'botOwner' },
    ephemeral: true,
    cooldown: { uses: 2, perMs: 60_000 },
    async run(ctx) {
      await ctx.defer();
      const findings = await services.doctor.examine();
      const failed = findings.filter(({ ok }) => !ok).length;
      const heading =
        failed === 0
          ? t('Everything is as it should be.')
          : t('{failed, plural, one {# thing is not as it should be.} other {# things are not as they should be.}}', {
              failed,
            });
      await replyPrivately(ctx, { content: [...findings.flatMap(linesOfCheck), heading].join('\n') });
    },
  });
}

/** The lines of one check. The first finding of a process gets its name as a heading. */
function linesOfCheck(
  { ok, about, process, text, remedy }: DoctorFinding,
  index: number,
  all: readonly DoctorFinding[],
): readonly string[] {
  const isFirst = process !== undefined && process !== all[index - 1]?.process;
  return [
    ...(isFirst ? ['', t('Process **{name}**', { name: plainText(process) })] : []),
    `${ok ? '✓' : '✗'} **${about}**: ${text}`,
    ...(remedy === undefined ? [] : [`-# ${remedy}`]),
  ];
}
