export type { AddedAgent, LettaAgentInit } from './agents.js';
export type { FailureFault, FaultTarget, LettaFaults } from './faults.js';
export type { LettaRequestRecord } from './http/request.js';
export type { LettaRunView } from './run-view.js';
export type { AgentScript, AgentTurn, ToolOutcome } from './script.js';
export { type LettaStandIn, type LettaStandInOptions, startLettaStandIn } from './start.js';
export type { LocalTool } from './state.js';
