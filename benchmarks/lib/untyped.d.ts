// Packages without types, used by the scenarios.
declare module 'compression'
declare module 'express'
declare module 'express4'
declare module 'express-session'
declare module 'morgan'
