/**
 * Commands of Red-DiscordBot (one or two words, as typed), and their counterparts here: the first one that exists, is switched on and may be used is suggested.
 * Commands with the same name here are not listed.
 * @see https://docs.discord.red/en/stable/cog_guides/core.html
 */
const SAME_HERE: Readonly<Record<string, readonly string[]>> = {
  actionlist: ['set moderation'],
  activemutes: ['cases'],
  addcc: ['customcom create'],
  addpath: ['plugin list'],
  addrole: ['role give'],
  adminset: ['roles admin add'],
  afk: ['remind'],
  allowlist: ['access global allow'],
  announce: ['bot announce'],
  announceset: ['set admin'],
  api: ['secrets', 'set llm'],
  autoimmune: ['access allow'],
  autorole: ['autorole add', 'roles'],
  avatar: ['bot avatar'],
  backup: ['backup'],
  banset: ['set moderation'],
  blacklist: ['block add'],
  blocklist: ['block add'],
  cases: ['cases', 'case'],
  casesfor: ['cases', 'case'],
  cc: ['customcom create'],
  channelmute: ['lock', 'timeout'],
  channelunmute: ['unlock', 'untimeout'],
  cleanup: ['purge'],
  cleanupset: ['set moderation'],
  cog: ['plugin list'],
  cogs: ['plugin list'],
  command: ['command disable'],
  contact: ['bot contact'],
  customcommand: ['customcom create'],
  datapath: ['doctor'],
  debuginfo: ['bot info'],
  denylist: ['block add'],
  diagnoseissues: ['diagnose'],
  dm: ['bot contact'],
  embedset: ['set'],
  filter: ['automod'],
  filterset: ['automod'],
  findcog: ['help'],
  forceunmute: ['untimeout'],
  helpset: ['help'],
  ignore: ['ignore channel'],
  info: ['bot info'],
  installpath: ['plugin list'],
  invite: ['bot invite'],
  inviteset: ['bot invite'],
  leave: ['bot leave'],
  licenceinfo: ['bot info'],
  licenseinfo: ['bot info'],
  listcases: ['cases', 'case'],
  load: ['plugin load'],
  localallowlist: ['allowlist add'],
  localblacklist: ['block add'],
  localblocklist: ['block add'],
  localwhitelist: ['allowlist add'],
  massban: ['ban'],
  modlogset: ['set moderation'],
  modset: ['set moderation'],
  mute: ['timeout'],
  mutechannel: ['lock', 'timeout'],
  muteset: ['set moderation'],
  mydata: ['mydata export'],
  mywarnings: ['warnings'],
  names: ['cases', 'case'],
  paths: ['plugin list'],
  'permissions acl': ['access import'],
  'permissions addglobalrule': ['access global allow'],
  'permissions addserverrule': ['access allow'],
  'permissions canrun': ['access check'],
  'permissions clearserverrules': ['access clear'],
  'permissions explain': ['access explain'],
  'permissions removeserverrule': ['access clear'],
  permissions: ['access list'],
  ping: ['bot ping'],
  pipinstall: ['plugin list'],
  prefix: ['prefix show'],
  reasonlist: ['set moderation'],
  reload: ['plugin reload'],
  remindme: ['remind'],
  removepath: ['plugin list'],
  removerole: ['role take'],
  reorderpath: ['plugin list'],
  repo: ['plugin list'],
  restart: ['bot restart'],
  rolepersist: ['autorole add'],
  selfrole: ['role get', 'roles'],
  selfroleset: ['rolemenu create', 'roles'],
  serverlock: ['access global deny'],
  servers: ['bot servers'],
  'set addadminrole': ['roles admin add'],
  'set addmodrole': ['roles mod add'],
  'set api': ['secrets', 'set llm'],
  'set avatar': ['bot avatar'],
  'set bot': ['bot nick'],
  'set game': ['bot status'],
  'set globallocale': ['language server'],
  'set locale': ['language server'],
  'set nickname': ['bot nick'],
  'set playing': ['bot status'],
  'set prefix': ['prefix add'],
  'set prefixes': ['prefix add'],
  'set removeadminrole': ['roles admin remove'],
  'set removemodrole': ['roles mod remove'],
  'set serverprefix': ['prefix add'],
  'set serverprefixes': ['prefix add'],
  'set showsettings': ['set'],
  'set status': ['bot status'],
  'set username': ['bot name', 'bot nick'],
  setapi: ['secrets', 'set llm'],
  shutdown: ['bot shutdown'],
  slash: ['plugin list'],
  softban: ['ban'],
  tempban: ['ban'],
  traceback: ['audit'],
  unblock: ['block remove'],
  unignore: ['ignore remove'],
  unload: ['plugin unload'],
  unmute: ['untimeout', 'timeout'],
  unmutechannel: ['unlock', 'untimeout'],
  update: ['plugin list'],
  uptime: ['bot uptime'],
  userinfo: ['cases', 'case'],
  voicemute: ['timeout'],
  voiceunmute: ['untimeout'],
  warnaction: ['set moderation'],
  warnings: ['warnings', 'cases'],
  warningset: ['set moderation'],
  warnreason: ['set moderation'],
  warnset: ['set moderation'],
  whitelist: ['allowlist add'],
};

/**
 * The counterparts of a command of Red, the best first; empty when it is unknown.
 * @param words in lower case, one space between them; words after the first two are ignored
 */
export function sameAsInRed(words: string): readonly string[] {
  const [first = '', second = ''] = words.split(' ');
  // Objects inherit `constructor`, which members may type.
  const at = (key: string) => (Object.hasOwn(SAME_HERE, key) ? SAME_HERE[key] : undefined);
  return at(`${first} ${second}`) ?? at(first) ?? [];
}

/** Commands of Red without a counterpart here: games, money, music, feeds, code. Similar names are not suggested for them: `bank` is no mistyped `ban`. */
const IN_RED_ALONE = new Set(
  (
    '8 8ball audioset audiostats autoplay bank bankset bump bumpplay bypasscooldowns choose debug disconnect economyset editrole eq eval flip genre gif ' +
    'gifr giphycreds hug imgur imgurcreds leaderboard llset lmgtfy local mock mockmsg movedeletedelay moveignoredchannels now pause payday payouts percent ' +
    'picarto play playlist prev queue remove rename repeat repl report reportset roll rps search seek serverinfo shuffle sing skip slot stop stopwatch ' +
    'streamalert streamset summon sw trivia triviaset twitchstream urban voiceban voicekick voiceunban volume youtubestream'
  ).split(' '),
);

/** Whether a command is one of Red's without a counterpart here. @param word in lower case */
export function isInRedAlone(word: string): boolean {
  return IN_RED_ALONE.has(word);
}
