export {
  createRouter,
  type LoopbackServer,
  listenOnLoopback,
  type MatchedRoute,
  type Method,
  sendJson,
} from './http.js';
