export type { FailureFault, FaultTarget, LettaFaults } from './http/faults.js';
export type { LettaRequestRecord } from './http/recording.js';
export type { AddedAgent, LettaAgentInit } from './people/add-agent.js';
export type { LettaRunView } from './people/view-run.js';
export type { AgentScript, AgentTurn, ToolOutcome } from './script.js';
export { type LettaStandIn, type LettaStandInOptions, startLettaStandIn } from './start.js';
export type { LocalTool } from './state/tool.js';
