import type { PythonDict, PythonValue } from '../python/value.ts'
import { type Api, type Dict, dictOf, fieldOf, has, itemOf, setItem } from './api.ts'

interface Posting {
  username: string
  password: string
  authenticated: boolean
  /** By their ids, which are ints. */
  tweets: Dict<Tweet>
  /** By ids: those of a scenario are texts, which no call finds, and those of calls ints. */
  comments: Dict<PythonValue[]>
  retweets: Dict<number[]>
  following_list: string[]
  tweet_counter: number
}

interface Tweet {
  [key: string]: PythonValue
  username: string
  content: string
  tags: string[]
  mentions: string[]
}

export const posting: Api<Posting> = {
  load(scenario, sources) {
    const { tweets, comments, retweets, ...rest } = {
      ...sources.constant<Record<string, PythonValue>>('DEFAULT_STATE'),
      ...scenario,
    }
    return {
      ...(rest as unknown as Omit<Posting, 'tweets' | 'comments' | 'retweets'>),
      tweets: { $dict: dictOf<Tweet>(tweets as PythonValue).$dict.map(([id, tweet]) => [Number(id), tweet]) },
      comments: dictOf(comments as PythonValue),
      retweets: dictOf(retweets as PythonValue),
    }
  },

  compared: ({ authenticated, comments, following_list, password, retweets, tweet_counter, tweets, username }) => ({
    ...{ authenticated, comments: comments as PythonDict, following_list, password, retweets: retweets as PythonDict },
    ...{ tweet_counter, tweets: tweets as PythonDict, username },
  }),

  methods: {
    authenticate_twitter(state, { username, password }: { username: string; password: string }) {
      const isRight = username === state.username && password === state.password
      if (isRight) state.authenticated = true
      return { authentication_status: isRight }
    },

    posting_get_login_status: ({ authenticated }) => ({ login_status: Boolean(authenticated) }),

    post_tweet(state, { content, tags, mentions }: { content: string; tags?: string[]; mentions?: string[] }) {
      if (!state.authenticated) return stranger('posting')
      const tweet = {
        id: state.tweet_counter,
        username: state.username,
        content,
        tags: [...(tags ?? [])],
        mentions: [...(mentions ?? [])],
      }
      setItem(state.tweets, state.tweet_counter, tweet)
      state.tweet_counter += 1
      return tweet
    },

    retweet(state, { tweet_id }: { tweet_id: number }) {
      if (!state.authenticated) return stranger('retweeting')
      if (!has(state.tweets, tweet_id)) return unknown(tweet_id)
      if (!has(state.retweets, state.username)) setItem(state.retweets, state.username, [])
      const retweets = itemOf(state.retweets, state.username)
      if (retweets.includes(tweet_id)) return { retweet_status: 'Already retweeted' }
      retweets.push(tweet_id)
      return { retweet_status: 'Successfully retweeted' }
    },

    comment(state, { tweet_id, comment_content }: { tweet_id: number; comment_content: string }) {
      if (!state.authenticated) return stranger('commenting')
      if (!has(state.tweets, tweet_id)) return unknown(tweet_id)
      if (!has(state.comments, tweet_id)) setItem(state.comments, tweet_id, [])
      itemOf(state.comments, tweet_id).push({ username: state.username, content: comment_content })
      return { comment_status: 'Comment added successfully' }
    },

    mention(state, { tweet_id, mentioned_usernames }: { tweet_id: number; mentioned_usernames: string[] }) {
      if (!has(state.tweets, tweet_id)) return unknown(tweet_id)
      const { mentions } = itemOf(state.tweets, tweet_id)
      mentions.push(...mentioned_usernames)
      return { mention_status: 'Users mentioned successfully' }
    },

    follow_user(state, { username_to_follow: user }: { username_to_follow: string }) {
      if (!state.authenticated) return stranger('following')
      if (state.following_list.includes(user)) return { follow_status: false }
      state.following_list.push(user)
      return { follow_status: true }
    },

    list_all_following: ({ authenticated, following_list }) =>
      authenticated ? { following_list } : stranger('listing following'),

    unfollow_user(state, { username_to_unfollow: user }: { username_to_unfollow: string }) {
      if (!state.authenticated) return stranger('unfollowing')
      const at = state.following_list.indexOf(user)
      if (at < 0) return { unfollow_status: false }
      state.following_list.splice(at, 1)
      return { unfollow_status: true }
    },

    get_tweet: ({ tweets }, { tweet_id }: { tweet_id: number }) =>
      has(tweets, tweet_id) ? itemOf(tweets, tweet_id) : unknown(tweet_id),

    get_user_tweets: ({ tweets }, { username }: { username: string }) => tweetsOf(tweets, username),

    search_tweets({ tweets }, { keyword }: { keyword: string }) {
      const word = keyword.toLowerCase()
      return tweets.$dict.flatMap(([, tweet]) =>
        String(fieldOf(tweet, 'content')).toLowerCase().includes(word) ||
        (fieldOf(tweet, 'tags') as string[]).some((tag) => tag.toLowerCase() === word)
          ? [tweet]
          : [],
      )
    },

    get_tweet_comments({ tweets, comments }, { tweet_id }: { tweet_id: number }) {
      if (!has(tweets, tweet_id)) return unknown(tweet_id)
      return has(comments, tweet_id) ? itemOf(comments, tweet_id) : []
    },

    get_user_stats: (state, { username }: { username: string }) => ({
      tweet_count: tweetsOf(state.tweets, username).length,
      following_count: username === state.username ? state.following_list.length : 0,
      retweet_count: has(state.retweets, username) ? itemOf(state.retweets, username).length : 0,
    }),
  },
}

function tweetsOf(tweets: Dict<Tweet>, username: string): Tweet[] {
  return tweets.$dict.flatMap(([, tweet]) => (fieldOf(tweet, 'username') === username ? [tweet] : []))
}

function stranger(before: string) {
  return { error: `User not authenticated. Please authenticate before ${before}.` }
}

function unknown(id: number) {
  return { error: `Tweet with ID ${id} not found.` }
}
