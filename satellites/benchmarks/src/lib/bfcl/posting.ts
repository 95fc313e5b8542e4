import type { PythonValue } from '../python/value.ts'
import { type Api, attributesOf, type Fields, fieldOf, removeFrom } from './api.ts'
import { type Dict, findItem, itemOr, setItem } from './dict.ts'

interface Posting {
  username: string
  password: string
  authenticated: boolean
  tweets: Dict<Fields>
  /** By ids: those of a scenario are texts, which no call finds, and those of calls ints. */
  comments: Dict<PythonValue[]>
  retweets: Dict<number[]>
  following_list: string[]
  tweet_counter: number
}

type Texts = 'username' | 'password' | 'content' | 'comment_content' | 'username_to_follow' | 'username_to_unfollow'
type CallArguments = Record<Texts | 'keyword', string> & {
  tweet_id: number
  tags?: string[] | null
  mentions?: string[] | null
  mentioned_usernames: string[]
}

export const posting: Api<Posting, CallArguments> = {
  load(scenario, sources) {
    const state = attributesOf<Posting>(scenario, sources, 'tweets', 'comments', 'retweets')
    return { ...state, tweets: { $dict: state.tweets.$dict.map(([id, tweet]) => [Number(id), tweet]) } }
  },
  methods: {
    authenticate_twitter(state, { username, password }) {
      const authentication_status = username === state.username && password === state.password
      if (authentication_status) state.authenticated = true
      return { authentication_status }
    },
    posting_get_login_status: ({ authenticated }) => ({ login_status: Boolean(authenticated) }),
    post_tweet(state, { content, tags, mentions }) {
      if (!state.authenticated) return stranger('posting')
      const { tweet_counter: id, username } = state
      const tweet = { id, username, content, tags: [...(tags ?? [])], mentions: [...(mentions ?? [])] }
      setItem(state.tweets, id, tweet)
      state.tweet_counter += 1
      return tweet
    },
    retweet({ authenticated, tweets, retweets, username }, { tweet_id }) {
      if (!authenticated) return stranger('retweeting')
      if (!findItem(tweets, tweet_id)) return unknown(tweet_id)
      const own = itemOr(retweets, username, [])
      if (own.includes(tweet_id)) return { retweet_status: 'Already retweeted' }
      own.push(tweet_id)
      return { retweet_status: 'Successfully retweeted' }
    },
    comment({ authenticated, tweets, comments, username }, { tweet_id, comment_content: content }) {
      if (!authenticated) return stranger('commenting')
      if (!findItem(tweets, tweet_id)) return unknown(tweet_id)
      itemOr(comments, tweet_id, []).push({ username, content })
      return { comment_status: 'Comment added successfully' }
    },
    mention({ tweets }, { tweet_id, mentioned_usernames }) {
      const tweet = findItem(tweets, tweet_id)
      if (!tweet) return unknown(tweet_id)
      const mentions = fieldOf(tweet, 'mentions') as string[]
      mentions.push(...mentioned_usernames)
      return { mention_status: 'Users mentioned successfully' }
    },
    follow_user({ authenticated, following_list }, { username_to_follow: user }) {
      if (!authenticated) return stranger('following')
      if (following_list.includes(user)) return { follow_status: false }
      following_list.push(user)
      return { follow_status: true }
    },
    list_all_following: ({ authenticated, following_list }) =>
      authenticated ? { following_list } : stranger('listing following'),
    unfollow_user({ authenticated, following_list }, { username_to_unfollow: user }) {
      if (!authenticated) return stranger('unfollowing')
      return { unfollow_status: removeFrom(following_list, user) }
    },
    get_tweet: ({ tweets }, { tweet_id }) => findItem(tweets, tweet_id) ?? unknown(tweet_id),
    get_user_tweets: ({ tweets }, { username }) => tweetsOf(tweets, username),
    search_tweets({ tweets }, { keyword }) {
      const word = keyword.toLowerCase()
      const all = tweets.$dict.map(([, tweet]) => tweet)
      return all.filter(
        (tweet) =>
          String(fieldOf(tweet, 'content')).toLowerCase().includes(word) ||
          (fieldOf(tweet, 'tags') as string[]).some((tag) => tag.toLowerCase() === word),
      )
    },
    get_tweet_comments: ({ tweets, comments }, { tweet_id }) =>
      findItem(tweets, tweet_id) ? (findItem(comments, tweet_id) ?? []) : unknown(tweet_id),
    get_user_stats: (state, { username }) => ({
      tweet_count: tweetsOf(state.tweets, username).length,
      following_count: username === state.username ? state.following_list.length : 0,
      retweet_count: findItem(state.retweets, username)?.length ?? 0,
    }),
  },
}

function tweetsOf({ $dict }: Dict<Fields>, username: string): Fields[] {
  return $dict.map(([, tweet]) => tweet).filter((tweet) => fieldOf(tweet, 'username') === username)
}

function stranger(before: string) {
  return { error: `User not authenticated. Please authenticate before ${before}.` }
}

function unknown(id: number) {
  return { error: `Tweet with ID ${id} not found.` }
}
