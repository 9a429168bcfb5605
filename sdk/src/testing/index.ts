export * from './clock.js';
export { LocalDiscordError } from './discord/errors.js';
export type { Faults } from './discord/faults/faults.js';
export type { OptionValue } from './discord/people/slash-options.js';
export { REST_EXCHANGES, type RestExchange } from './discord/rest/exchange.js';
export type { LoggedRequest } from './discord/rest/request-log.js';
export { type PermissionName, type PermissionSet, permissionBits } from './discord/rules/permission-names.js';
export { type LocalDiscord, type LocalDiscordOptions, startLocalDiscord } from './discord/start.js';
export type { LocalApplication, PrivilegedIntent } from './discord/state/application.js';
export type { LocalAttachment, UploadedFile } from './discord/state/attachment.js';
export type { LocalChannel } from './discord/state/channel.js';
export type { ApplicationInit, UserInit } from './discord/state/create.js';
export type { LocalGuild } from './discord/state/guild.js';
export type { LocalInteraction } from './discord/state/interaction.js';
export type { LocalMember } from './discord/state/member.js';
export type { LocalMessage, LocalReaction } from './discord/state/message.js';
export type { LocalRole } from './discord/state/role.js';
export type { LocalUser, MessageAuthor, SayOptions } from './discord/state/user.js';
export type { LocalWebhook } from './discord/state/webhook.js';
export type { LocalEvent, LocalEventType } from './discord/watch/events.js';
export type { ExpectedMessage } from './discord/watch/expect-message.js';
export type { FailureFault, FaultTarget, LettaFaults } from './letta/http/faults.js';
export type { LettaRequestRecord } from './letta/http/recording.js';
export type { AddedAgent, LettaAgentInit } from './letta/people/add-agent.js';
export type { LettaRunView } from './letta/people/view-run.js';
export type { AgentScript, AgentTurn, ToolOutcome } from './letta/script.js';
export { type LettaStandIn, type LettaStandInOptions, startLettaStandIn } from './letta/start.js';
export type { LocalTool } from './letta/state/tool.js';
export { startAnthropicStandIn } from './providers/anthropic/start.js';
export { startBedrockStandIn } from './providers/bedrock/start.js';
export { type EmbeddingOptions, wordVector } from './providers/embedding.js';
export { startGoogleStandIn } from './providers/google/start.js';
export { startOpenAiStandIn } from './providers/openai/start.js';
export type { ModelScript, PromptView, ScriptOptions } from './providers/prompt.js';
export type { Ending, RecordedRequest } from './providers/recording.js';
export { type ScriptedEmbeddings, type ScriptedLlm, scriptedLlm } from './providers/scripted-llm.js';
export type { StandIn, StandInOptions } from './providers/server.js';
export {
  callTool,
  callToolRaw,
  callTools,
  cutMidway,
  endMidway,
  type FailStep,
  fail,
  type HangStep,
  hang,
  hangMidway,
  type ModelStep,
  type ReplyStep,
  refuse,
  type ScriptedCall,
  type ScriptedUsage,
  say,
} from './providers/steps.js';
