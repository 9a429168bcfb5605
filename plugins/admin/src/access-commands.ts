import {
  type AccessRule,
  type CommandContext,
  channelsCalled,
  createAskFirst,
  type Decision,
  EVERYTHING,
  membersCalled,
  oneLine,
  option,
  type PluginInfo,
  RULE_SUBJECTS,
  RULE_TARGETS,
  readRules,
  requireGuild,
  requireGuildId,
  rolesCalled,
  subcommand,
  subgroup,
  t,
  textOfRuleSubject,
  textOfRuleTarget,
  UserError,
  writeRules,
} from '@cinnabar/sdk';
import { ChannelType, type Guild } from 'discord.js';
import type { AdminContext } from './context.js';
import { code, MAX_SUGGESTIONS, stateWord, tierWord } from './format.js';
import { leaveCommand } from './new-servers.js';
import { attachedText } from './server-commands.js';

const ADMIN = { tier: 'admin', where: 'guild' } as const;

type Target = AccessRule['target'];
type Subject = AccessRule['subject'];

/** `!access …`: the access rules of this server, and explanations of decisions. */
export function registerAccessCommands(context: AdminContext): void {
  const { group, component, services } = context;
  const { access, accessRules, commands, plugins, tools } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'access-import', access: ADMIN });

  const what = option
    .suggested((typed) => {
      const names = [
        EVERYTHING.name,
        ...commands.names(),
        ...tools.list().map(({ name }) => name),
        ...plugins.list().map(({ id }) => `plugin:${id}`),
      ];
      const matching = [...new Set(names)].filter((name) => name.includes(typed.toLowerCase()));
      return matching.slice(0, MAX_SUGGESTIONS).map((name) => ({ name, value: name }));
    })
    .describe('Command, tool or plugin; in quotes when it has several words');
  const ofServer: Level = {
    idOf: ({ actor }) => requireGuildId(actor),
    who: option.rest().describe('A member, a role, a channel or a category, or everyone'),
    find: findSubject,
    empty: () => t('This server has no access rules: what each command asks for decides alone.'),
  };
  const ofOwner: Level = {
    idOf: () => null,
    who: option.rest().describe('A user, a server by its id, here, servers for all of them, or everyone'),
    find: findOwnerSubject,
    empty: () => t('There are no rules for all servers.'),
  };

  const rule = (level: Level, effect: AccessRule['effect'], description: string, help: string) =>
    subcommand({
      name: effect,
      description,
      help,
      options: { what, who: level.who },
      examples: [`access ${effect} party everyone`, `access ${effect} "party add" @Fixers`],
      async run(ctx, options) {
        const target = await findTarget(services, ctx, options.what);
        const subject = await level.find(ctx, options.who);
        const rule = describe(target, subject);
        const isOfServer = level.idOf(ctx) !== null;
        const write = async () => {
          await accessRules.set(level.idOf(ctx), { effect, target, subject });
          if (effect === 'allow') return t('Allowed: {rule}.', { rule });
          const denied = t('Denied: {rule}.', { rule });
          if (target.kind !== 'everything') return denied;
          const silence = t('I give no answer then, not even a refusal.');
          const sparesAdmins = isOfServer && subject.kind !== 'user' && subject.kind !== 'role';
          return [
            denied,
            silence,
            ...(sparesAdmins ? [t('Admins can still use the commands that control me.')] : []),
          ].join(' ');
        };
        if (effect === 'allow' || !isOfServer || subject.kind !== 'everyone' || !keepsServerInHand(services, target))
          return ctx.reply(await write());
        return askFirst(ctx, {
          content: lockWarning(target.name),
          yes: t('Deny it all the same'),
          async run() {
            services.audit.record({
              actor: ctx.actor,
              act: `access deny ${target.name} everyone (agreed)`,
              outcome: 'done',
            });
            return write();
          },
        });
      },
    });

  const clear = (level: Level) =>
    subcommand({
      name: 'clear',
      description: 'Remove rules: those about something, or all',
      options: {
        what: option
          .suggested((typed) => (typed === '' ? [{ name: 'all', value: 'all' }] : []))
          .describe('As in a rule, or all'),
        who: option.rest().optional().describe('Only the rule for this one, as in a rule'),
      },
      examples: ['access clear party', 'access clear "party add" @Fixers', 'access clear all'],
      async run(ctx, options) {
        const target = options.what.toLowerCase() === 'all' ? undefined : await findTarget(services, ctx, options.what);
        const subject = options.who === undefined ? undefined : await level.find(ctx, options.who);
        const removed = await accessRules.clear(
          level.idOf(ctx),
          (one) =>
            (target === undefined || (one.target.kind === target.kind && one.target.name === target.name)) &&
            (subject === undefined || (one.subject.kind === subject.kind && one.subject.id === subject.id)),
        );
        if (removed.length === 0) return ctx.reply(t('There is no such rule here.'));
        const heading = t('Removed {count, plural, one {# rule} other {# rules}}:', { count: removed.length });
        return ctx.reply([heading, ...removed.map(lineOf)].join('\n'));
      },
    });

  const list = (level: Level, description: string) =>
    subcommand({
      name: 'list',
      description,
      reads: true,
      async run(ctx) {
        const rules = byPrecedence(await accessRules.list(level.idOf(ctx)));
        if (rules.length === 0) return ctx.reply(level.empty());
        const heading = t('**Access rules** ({count}), those of higher precedence first', { count: rules.length });
        return ctx.reply([heading, ...rules.map(lineOf)].join('\n'));
      },
    });

  group({
    name: 'access',
    description: 'Allow and deny commands, tools and plugins, and see why',
    access: ADMIN,
    help: [
      'Of several rules that apply, the most specific decides: one for a member before one for a role, then for a channel or thread, a category, and everyone;',
      'among those a subcommand before its command, and a command or tool before its plugin; then a denial.',
      'A rule that allows admits members to what asks for a moderator or an admin. It gives no permission of Discord, and nothing that is for owners.',
    ].join(' '),
    commands: [
      rule(ofServer, 'allow', 'Let a member, role or channel use something', 'Overrides denials of lower precedence.'),
      rule(
        ofServer,
        'deny',
        'Refuse something to a member, role or channel',
        'The owner of the server can always use these commands.',
      ),
      clear(ofServer),
      list(ofServer, 'List the rules of this server'),
      subgroup({
        name: 'global',
        description: 'Rules of the bot’s owner, which bind every server',
        access: { tier: 'botOwner' },
        help: 'They override the rules of the servers. With a denial of everything, the bot ignores a user or a server, or with `servers` all servers that no rule allows.',
        commands: [
          rule(ofOwner, 'allow', 'Let a user or server use something', 'Overrides the rules of the servers.'),
          rule(ofOwner, 'deny', 'Refuse something to a user or server', 'Everything: the bot ignores them.'),
          clear(ofOwner),
          list(ofOwner, 'List the rules that bind every server'),
          leaveCommand(context),
        ],
      }),
      subcommand({
        name: 'explain',
        reads: true,
        description: 'Show why a member may or may not use something here',
        options: { member: option.member().describe('The member'), what: option.rest().describe('Command or tool') },
        examples: ['access explain @alice party add'],
        async run(ctx, { member, what: name }) {
          const actor = { ...ctx.actor, userId: member.id };
          const target = await findTarget(services, ctx, name);
          const decisions = await decisionsFor(services, actor, target);
          const heading = t(
            '**{kind, select, command {command} tool {tool} other {plugin}} {name} for {member} in {channel}**, in the words that they would read',
            { kind: target.kind, name: code(target.name), member: `<@${member.id}>`, channel: `<#${actor.channelId}>` },
          );
          await ctx.reply([heading, ...decisions.map(explanation)].join('\n'));
        },
      }),
      subcommand({
        name: 'check',
        reads: true,
        description: 'Show what a member may use here',
        options: { member: option.member().describe('The member') },
        async run(ctx, { member }) {
          const actor = { ...ctx.actor, userId: member.id };
          const [tier, visible, offered] = await Promise.all([
            access.tierOf(actor),
            commands.visibleTo(actor),
            tools.offered(actor),
          ]);
          await ctx.reply(
            [
              t('**{member} in {channel}**, who counts as one of: {tier}', {
                member: `<@${member.id}>`,
                channel: `<#${actor.channelId}>`,
                tier: tierWord(tier),
              }),
              t('Commands: {names}', { names: namesOf(visible.map(({ name }) => name)) }),
              t('Tools, for the AI on their behalf: {names}', { names: namesOf(offered.map(({ name }) => name)) }),
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'export',
        reads: true,
        description: 'Get the rules of this server as a file',
        async run(ctx) {
          const rules = byPrecedence(await accessRules.list(requireGuildId(ctx.actor)));
          const text = writeRules(rules, (id) => nameOf(ctx.guild, id));
          await ctx.reply({
            content: t('Here {count, plural, one {is the rule} other {are the # rules}} of this server.', {
              count: rules.length,
            }),
            files: [{ attachment: Buffer.from(text), name: 'access.yaml' }],
          });
        },
      }),
      subcommand({
        name: 'import',
        description: 'Replace the rules of this server by those of a file',
        options: { file: option.attachment().describe('As `access export` writes it') },
        async run(ctx, { file }) {
          const guildId = requireGuildId(ctx.actor);
          const next = readRules(await attachedText(context, file));
          const present = await accessRules.list(guildId);
          return askFirst(ctx, {
            content: t(
              'This replaces the {present, plural, one {# rule} other {# rules}} of this server by {next, plural, one {# rule} other {# rules}}.',
              { present: present.length, next: next.length },
            ),
            yes: t('Replace them'),
            async run() {
              await accessRules.replace(guildId, next);
              services.audit.record({
                actor: ctx.actor,
                act: `access import ${next.length} (agreed)`,
                outcome: 'done',
              });
              return t('This server has {count, plural, one {# rule} other {# rules}} now.', { count: next.length });
            },
          });
        },
      }),
    ],
  });
}

/** Whether a target is a command that a server's admins need to correct their own rules. */
export function keepsServerInHand(
  { commands, plugins }: Pick<AdminContext['services'], 'commands' | 'plugins'>,
  { kind, name }: Target,
): boolean {
  const required = plugins.list().filter(({ manifest }) => manifest.required === true);
  if (kind === 'plugin') return required.some(({ id }) => id === name);
  return kind === 'command' && required.some(({ id }) => commands.owners(name).includes(id));
}

export const lockWarning = (name: string) =>
  t(
    '{name} is needed to mend what is set here. Without it only the owner of the server and the owner of the bot can do that: no rule of this server binds them in such commands.',
    { name: code(name) },
  );

/** The rules that a command concerns: those of the server, or those of the bot's owner. */
interface Level {
  readonly idOf: (ctx: CommandContext) => string | null;
  readonly who: ReturnType<typeof option.rest>;
  readonly find: (ctx: CommandContext, text: string) => Promise<Subject>;
  /** The answer of `list` without rules. */
  readonly empty: () => string;
}

/** A plugin, command or tool by name: `party add`, or `plugin:party` where several have the name. @throws UserError when none has it */
export async function findTarget(
  { commands, plugins, tools }: Pick<AdminContext['services'], 'commands' | 'plugins' | 'tools'>,
  ctx: Pick<CommandContext, 'actor'>,
  text: string,
): Promise<Target> {
  // The last option of a command may contain the quotes that other options need for several words.
  const typed = text
    .trim()
    .toLowerCase()
    .replace(/^"(.*)"$/s, '$1');
  if (typed === EVERYTHING.name) return EVERYTHING;
  const [, asked, name = ''] = /^(?:(plugin|command|tool):)?(.*)$/s.exec(typed) ?? [];
  const found: Target[] = [];
  const named = await commands.explain(ctx.actor, name);
  const [first] = named;
  // An alias is replaced by the command's own name; a group keeps the typed name.
  if (first !== undefined) {
    const isAlias = named.length === 1 && first.command.aliases.includes(name);
    found.push({ kind: 'command', name: isAlias ? first.command.name : name.split(/\s+/).join(' ') });
  }
  if (tools.list().some((tool) => tool.name === name)) found.push({ kind: 'tool', name });
  if (plugins.list().some(({ id }) => id === name)) found.push({ kind: 'plugin', name });
  const target = asked === undefined ? found[0] : found.find(({ kind }) => kind === asked);
  if (target !== undefined) return target;
  if (asked === undefined || asked === 'command') assertRuns({ commands, plugins }, name);
  const among = {
    command: await commands.visibleTo(ctx.actor),
    tool: tools.list(),
    plugin: plugins.list().map(({ id }) => ({ name: id })),
  };
  const [near] = commands.similar(
    name,
    asked === 'command' || asked === 'tool' || asked === 'plugin' ? among[asked] : Object.values(among).flat(),
  );
  const sentence = t(
    'There is no {kind, select, command {command} tool {tool} plugin {plugin} other {command, tool or plugin}} called {name}.',
    { kind: asked ?? 'any', name: code(name) },
  );
  const hint = near === undefined ? '' : ` ${t('Did you mean {near}?', { near: code(near) })}`;
  throw new UserError(`${sentence}${hint}`);
}

/** The stopped plugin that has, or by its id may have, a command. */
export function stoppedPluginOf(
  { commands, plugins }: Pick<AdminContext['services'], 'commands' | 'plugins'>,
  name: string,
): { readonly plugin: PluginInfo; readonly isCertain: boolean } | undefined {
  const stopped = plugins.list().filter(({ state }) => state !== 'running');
  const owners = commands.owners(name);
  const [word = ''] = name.split(/\s+/);
  const owner = stopped.find(({ id }) => owners.includes(id));
  const plugin = owner ?? stopped.find(({ id }) => word.length > 2 && (id.startsWith(word) || word.startsWith(id)));
  return plugin && { plugin, isCertain: plugin === owner };
}

/** @throws UserError with the stopped plugin that would have a command, and how to load it */
function assertRuns(services: Pick<AdminContext['services'], 'commands' | 'plugins'>, name: string): void {
  const stopped = stoppedPluginOf(services, name);
  if (stopped === undefined) return;
  const { plugin, isCertain } = stopped;
  const values = { name: code(name), plugin: plugin.id, state: stateWord(plugin.state) };
  const sentence = isCertain
    ? t('{name} is a command of the plugin "{plugin}", which is {state}.', values)
    : t(
        'No plugin that runs has a command called {name}. The plugin "{plugin}", which may have it, is {state}.',
        values,
      );
  throw new UserError(`${sentence} ${t('The owner of the bot loads it with `plugin load {plugin}`.', values)}`);
}

/** The decisions about a command or tool. @throws UserError for any other target */
export async function decisionsFor(
  { commands, tools }: Pick<AdminContext['services'], 'commands' | 'tools'>,
  actor: CommandContext['actor'],
  { kind, name }: Target,
): Promise<readonly Decided[]> {
  if (kind === 'everything') throw new UserError(t('Please name a command or a tool.'));
  if (kind === 'plugin')
    throw new UserError(t('{name} is a plugin. Name one of its commands or tools.', { name: code(name) }));
  if (kind === 'command') {
    const decided = await commands.explain(actor, name);
    return decided.map(({ command, decision }) => ({ name: command.name, decision }));
  }
  const decision = await tools.explain(actor, name);
  return decision === undefined ? [] : [{ name, decision }];
}

export interface Decided {
  readonly name: string;
  readonly decision: Decision;
}

/** A member, role, channel or category by mention, id or name. @throws UserError when none or several match */
export async function findSubject(ctx: CommandContext, text: string): Promise<Subject> {
  const guild = requireGuild(ctx);
  const wanted = text.trim();
  if (/^@?everyone$/i.test(wanted)) return { kind: 'everyone' };
  const [, sign, mentioned] = /^<(@!?|@&|#)(\d{15,22})>$/.exec(wanted) ?? [];
  const id = mentioned ?? (/^\d{15,22}$/.test(wanted) ? wanted : undefined);
  if (id !== undefined) {
    if (id === guild.id) return { kind: 'everyone' };
    if (guild.roles.cache.has(id)) return { kind: 'role', id };
    const channel = guild.channels.cache.get(id);
    if (channel !== undefined) return { kind: channel.type === ChannelType.GuildCategory ? 'category' : 'channel', id };
    // A user who has left also matches: the rule applies when they come back.
    if (sign === undefined || sign.startsWith('@')) return { kind: 'user', id };
  }
  const [subject, another] = await subjectsCalled(guild, wanted);
  if (subject === undefined) {
    throw new UserError(t('There is no member, role, channel or category called {name} here.', { name: code(wanted) }));
  }
  if (another !== undefined)
    throw new UserError(t('Several are called {name} here. Please use a mention or an id.', { name: code(wanted) }));
  return subject;
}

/** The roles and channels with a name; if there are none, the members. */
async function subjectsCalled(guild: Guild, wanted: string): Promise<readonly Subject[]> {
  const named: readonly Subject[] = [
    ...rolesCalled(guild, wanted).map(({ id }) => ({ kind: 'role', id }) as const),
    ...channelsCalled(guild, wanted).map(
      ({ id, type }) => ({ kind: type === ChannelType.GuildCategory ? 'category' : 'channel', id }) as const,
    ),
  ];
  if (named.length > 0 || wanted.startsWith('#')) return named;
  return (await membersCalled(guild, wanted)).map(({ id }) => ({ kind: 'user', id }) as const);
}

/** A user, a server, all servers or everyone. An id that is not one of the bot's servers counts as a user's, unless it is written `server:<id>`. */
async function findOwnerSubject(
  { channel: { client }, actor: { guildId } }: CommandContext,
  text: string,
): Promise<Subject> {
  const wanted = text.trim().toLowerCase();
  if (wanted === 'everyone') return { kind: 'everyone' };
  if (wanted === 'servers') return { kind: 'guilds' };
  if (wanted === 'here' && guildId !== null) return { kind: 'guild', id: guildId };
  const [, prefix, id] = /^(server:|<@!?)?(\d{15,22})>?$/.exec(wanted) ?? [];
  if (id === undefined)
    throw new UserError(t('Please name a user by mention or id, a server by its id, `here`, `servers` or `everyone`.'));
  const isServer = prefix === 'server:' || (prefix === undefined && client.guilds.cache.has(id));
  return { kind: isServer ? 'guild' : 'user', id };
}

/** Sorts rules: those about everything come first, as in their evaluation. */
export const byPrecedence = (rules: readonly AccessRule[]): readonly AccessRule[] =>
  rules.toSorted(
    (a, b) =>
      Number(b.target.kind === 'everything') - Number(a.target.kind === 'everything') ||
      RULE_SUBJECTS.indexOf(a.subject.kind) - RULE_SUBJECTS.indexOf(b.subject.kind) ||
      RULE_TARGETS.indexOf(b.target.kind) - RULE_TARGETS.indexOf(a.target.kind) ||
      (a.target.name < b.target.name ? -1 : 1),
  );

const describe = (target: Target, subject: Subject) => `${textOfRuleTarget(target)} ${textOfRuleSubject(subject)}`;

const lineOf = ({ effect, target, subject }: AccessRule) =>
  t('• {effect, select, allow {allow} other {deny}} {rule}', { effect, rule: describe(target, subject) });

const namesOf = (names: readonly string[]) => (names.length === 0 ? t('none') : names.map(code).join(', '));

/** The name of an id, for a comment in a file. */
function nameOf(guild: Guild | null, id: string): string | undefined {
  return (
    guild?.roles.cache.get(id)?.name ?? guild?.channels.cache.get(id)?.name ?? guild?.members.cache.get(id)?.displayName
  );
}

function explanation({ name, decision: { allowed, reasons } }: Decided): string {
  return [
    allowed ? t('✅ {name}: allowed', { name: code(name) }) : t('⛔ {name}: refused', { name: code(name) }),
    ...reasons.map((reason) => `  ${reason.allowed ? '✓' : '✗'} ${oneLine(reason.text)}`),
  ].join('\n');
}
